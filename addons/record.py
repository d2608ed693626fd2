"""Record an agent's traffic on a tape, unchanged, in a stock mitmdump.

mitmdump -s record.py --set faultwire_tape=incident.tape
faultwire tape show incident.tape
"""

from faultwire.mitm.flow.mitmdump_addon import MitmdumpAddon

addons = [MitmdumpAddon(tape="recorded.tape")]
