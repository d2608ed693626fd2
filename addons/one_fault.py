"""Inject a single fault, in a stock mitmdump; see `faultwire faults list` for what there is.

mitmdump -s one_fault.py --set faultwire_fault='status: {code: 503, after_calls: 2}'
"""

from faultwire.mitm.flow.mitmdump_addon import MitmdumpAddon

addons = [MitmdumpAddon(fault="latency: {ms: 500}")]
