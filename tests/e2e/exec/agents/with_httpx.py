"""Calls the model with httpx."""

import sys

import httpx

headers = {"content-type": "application/json", "authorization": "Bearer any"}
response = httpx.post(sys.argv[1], content=sys.argv[2], headers=headers)
print(response.status_code, response.json()["object"])
