// Calls one after the other over node:http2, and a line of JSON for each; a session that has ended is made anew.
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import tls from 'node:tls';

const [proxy, ca, target, calls, bodyFile] = process.argv.slice(2);
const through = new URL(proxy), to = new URL(target), body = fs.readFileSync(bodyFile);

const opened = () => new Promise((resolve, reject) => {
  const token = Buffer.from(`${through.username}:${through.password}`).toString('base64');
  const ask = http.request({port: through.port, host: through.hostname, method: 'CONNECT',
    path: `${to.hostname}:${to.port || 443}`,
    headers: {'proxy-authorization': `Basic ${token}`}});
  ask.on('error', reject);
  ask.on('connect', (_, socket) => {
    const secured = tls.connect({socket, servername: to.hostname, ca: fs.readFileSync(ca),
      ALPNProtocols: ['h2', 'http/1.1']}, () => {
      const session = http2.connect(to.origin, {createConnection: () => secured});
      session.on('error', () => {});
      resolve(session);
    });
    secured.on('error', reject);
  });
  ask.end();
});

const one = session => new Promise(resolve => {
  const told = {status: 0, bytes: 0, error: '', protocol: session.alpnProtocol};
  const call = session.request({':method': 'POST', ':path': to.pathname, 'content-type': 'application/json',
    authorization: 'Bearer any'});
  call.on('response', head => { told.status = head[':status']; });
  call.on('data', piece => { told.bytes += piece.length; });
  call.on('error', error => { told.error = `${error.code}: ${error.message}`; });
  call.on('close', () => resolve(told));
  call.end(body);
});

let session;
for (let left = Number(calls); left; left -= 1) {
  if (!session || session.closed || session.destroyed) session = await opened();
  console.log(JSON.stringify(await one(session)));
}
session.close();
