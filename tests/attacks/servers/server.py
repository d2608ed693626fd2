# aiohttp's HTTP/1.1 server, plain and with TLS: CERTIFICATE. Prints its two ports, then each request.
import asyncio
import json
import ssl
import sys

from aiohttp import web


async def serve(request: web.BaseRequest) -> web.Response:
    print(json.dumps(f"{request.method} {request.raw_path}"), flush=True)
    await request.read()
    return web.Response(text="ok")


async def main() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    runner = web.ServerRunner(web.Server(serve))
    await runner.setup()
    for one in (None, context):
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=one).start()
    print(json.dumps([address[1] for address in runner.addresses]), flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
