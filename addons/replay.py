"""Answer an agent from a tape, in a stock mitmdump: nothing is asked of any server.

mitmdump -s replay.py --set faultwire_replay=incident.tape
"""

from faultwire.mitm.flow.mitmdump_addon import MitmdumpAddon

addons = [MitmdumpAddon(replay="recorded.tape")]
