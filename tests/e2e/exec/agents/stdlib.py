"""Calls the model with urllib."""

import json
import sys
import urllib.request

headers = {"content-type": "application/json", "authorization": "Bearer any"}
request = urllib.request.Request(sys.argv[1], sys.argv[2].encode(), headers)
with urllib.request.urlopen(request) as response:
    print(response.status, json.load(response)["object"])
