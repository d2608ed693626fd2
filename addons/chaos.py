"""Break an agent's traffic with a profile, in a stock mitmdump.

mitmdump -s chaos.py --set faultwire_profile=rate_limits --set faultwire_seed=7
"""

from faultwire.mitm.flow.mitmdump_addon import MitmdumpAddon

addons = [MitmdumpAddon(profile="degraded_llm")]
