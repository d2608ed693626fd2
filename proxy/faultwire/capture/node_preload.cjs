// Sends this Node program's HTTP through the proxy that HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names.
//
// Node before 22.21 and 24.5 reads none of these variables, and later ones do it for fetch and the
// two global agents only, not for agents that a program makes itself. This module is loaded before
// the program (NODE_OPTIONS=--require) and closes the gap, for Node 18 and later, by changing the
// only three places where Node's own clients open a connection:
//   1. the dispatcher behind the global fetch and WebSocket,
//   2. createConnection of http.Agent and https.Agent, which every agent inherits,
//   3. http.request and https.request where they upgrade to a WebSocket without an agent (`ws`).
// It depends on nothing. A client that opens its sockets by itself, or brings a dispatcher or agent
// with its own connector, stays as it is.
'use strict';

const net = require('node:net');
const tls = require('node:tls');
const http = require('node:http');
const https = require('node:https');
const { syncBuiltinESMExports } = require('node:module');

const HEAD_LIMIT = 64 * 1024; // bytes of an answer to CONNECT; more is not a proxy speaking
const UNDICI_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

// Read at each connection and not once: a program may set its variables itself (dotenv).
function variable(...names) {
  for (const name of names) {
    const value = process.env[name.toLowerCase()] || process.env[name];
    if (value) return value;
  }
  return '';
}

// NO_PROXY as everybody reads it: `*`, `host`, `.suffix`, `*.suffix`, each with an optional port.
function bypassed(host, port) {
  for (const raw of variable('NO_PROXY').toLowerCase().split(',')) {
    const entry = raw.trim();
    if (entry === '*') return true;
    const found = /^(.*?)(?::(\d+))?$/.exec(entry);
    const name = found[1].replace(/^\*?\./, '');
    if (!name || (found[2] && Number(found[2]) !== port)) continue;
    if (host === name || host.endsWith('.' + name)) return true;
  }
  return false;
}

// The proxy for a target, or null where the connection is to go straight.
function proxyFor(secure, host, port) {
  const text = secure ? variable('HTTPS_PROXY', 'ALL_PROXY') : variable('HTTP_PROXY', 'ALL_PROXY');
  if (!text || bypassed(host.toLowerCase(), port)) return null;
  const proxy = new URL(text.includes('://') ? text : 'http://' + text);
  // A program's own proxy support asks its agent to connect to the proxy: a tunnel to it would loop.
  const itself = proxy.hostname === host && Number(proxy.port || 80) === port;
  return proxy.protocol === 'http:' && !itself ? proxy : null;
}

// Called once, whatever comes first.
function once(callback) {
  let called = false;
  return (error, socket) => {
    if (called) return;
    called = true;
    callback(error, socket);
  };
}

// A raw connection to host:port through the proxy. Plain HTTP is tunnelled as well, so that the
// client above speaks to its server in the one way it knows.
function openTunnel(proxy, host, port, callback) {
  const done = once(callback);
  const authority = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (proxy.username) {
    const user = decodeURIComponent(proxy.username) + ':' + decodeURIComponent(proxy.password);
    lines.push('Proxy-Authorization: Basic ' + Buffer.from(user).toString('base64'));
  }
  const socket = net.connect({ host: proxy.hostname, port: Number(proxy.port || 80) });
  socket.setNoDelay(true);

  let head = Buffer.alloc(0);
  const fail = (error) => {
    socket.destroy();
    done(error);
  };
  const left = () => fail(new Error(`the proxy closed the connection on CONNECT ${authority}`));
  const read = (data) => {
    head = Buffer.concat([head, data]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) {
      if (head.length > HEAD_LIMIT) fail(new Error(`the proxy's answer to CONNECT ${authority} has no end`));
      return;
    }
    const status = /^HTTP\/1\.\d (\d{3}[^\r]*)/.exec(head.toString('latin1', 0, end + 2));
    if (!status || !status[1].startsWith('200')) {
      fail(new Error(`the proxy refused CONNECT ${authority}: ${status ? status[1] : 'not HTTP'}`));
      return;
    }
    if (head.length > end + 4) {
      fail(new Error(`the proxy spoke before ${authority} was asked anything`));
      return;
    }
    // Not paused: whoever speaks HTTP or TLS above speaks first, so nothing can arrive unheard, and
    // Node's http client would never resume a socket that somebody else has paused.
    socket.off('data', read);
    socket.off('error', fail);
    socket.off('close', left);
    done(null, socket);
  };
  socket.once('connect', () => socket.write(lines.join('\r\n') + '\r\n\r\n'));
  socket.on('data', read);
  socket.on('error', fail);
  socket.on('close', left);
}

// TLS inside a tunnel, with whatever the client asked of it (ca, cert, servername, …).
function wrapTls(socket, host, options, callback) {
  const done = once(callback);
  const servername = options.servername || (net.isIP(host) ? '' : host);
  const secure = tls.connect({ ALPNProtocols: ['http/1.1'], ...options, path: undefined, socket, servername });
  const left = () => done(new Error(`the connection to ${host} closed before its TLS handshake`));
  secure.once('error', done);
  secure.once('close', left);
  secure.once('secureConnect', () => {
    secure.off('error', done);
    secure.off('close', left);
    done(null, secure);
  });
}

function dial(proxy, secure, host, port, options, callback) {
  openTunnel(proxy, host, port, (error, socket) => {
    if (error) callback(error);
    else if (secure) wrapTls(socket, host, options, callback);
    else callback(null, socket);
  });
}

// 1. fetch. Node's copy of undici cannot be required; reading a class of it loads it, and then its
//    Agent is the constructor of the dispatcher that it has put on globalThis. Where Node was told
//    to use the proxy and can, that is an EnvHttpProxyAgent, and nothing is left to do.
function coverFetch() {
  void globalThis.Headers;
  const Agent = globalThis[UNDICI_DISPATCHER]?.constructor;
  if (Agent?.name !== 'Agent') return;

  function connect({ protocol, hostname, port, servername }, callback) {
    const secure = protocol === 'https:';
    const target = Number(port) || (secure ? 443 : 80);
    const host = hostname.replace(/^\[|\]$/g, '');
    const proxy = proxyFor(secure, host, target);
    if (proxy) return dial(proxy, secure, host, target, { servername }, callback);
    const straight = net.connect({ host, port: target });
    straight.setNoDelay(true);
    if (secure) return wrapTls(straight, host, { servername }, callback);
    const done = once(callback);
    straight.once('error', done);
    straight.once('connect', () => {
      straight.off('error', done);
      done(null, straight);
    });
  }
  globalThis[UNDICI_DISPATCHER] = new Agent({ connect });
}

// 2. http and https, with every agent that inherits from Node's. Unix sockets, sockets that the
//    caller brings, and agents that Node itself sends to a proxy (proxyEnv) go the old way.
function coverAgent(Agent, secure) {
  const original = Agent.prototype.createConnection;
  Agent.prototype.createConnection = function createConnection(options, callback) {
    const plain = options && typeof options === 'object' && typeof callback === 'function';
    if (plain && !options.path && !options.socketPath && !options.socket && !this.options?.proxyEnv) {
      const host = String(options.host || 'localhost').replace(/^\[|\]$/g, '');
      const port = Number(options.port) || (secure ? 443 : 80);
      const proxy = proxyFor(secure, host, port);
      if (proxy) {
        dial(proxy, secure, host, port, options, callback);
        return undefined; // the agent then waits for the callback
      }
    }
    return original.apply(this, arguments);
  };
}

// 3. http.request and https.request for a WebSocket: `ws` uses no agent, but a createConnection of its
//    own, which then opens the socket.
function coverUpgrade(client, secure) {
  const original = client.request;
  client.request = function request(options, ...rest) {
    const own = options?.createConnection;
    const upgrade = String(options?.headers?.Upgrade ?? options?.headers?.upgrade ?? '');
    if (typeof own !== 'function' || options.agent || upgrade.toLowerCase() !== 'websocket') {
      return original.call(this, options, ...rest);
    }
    function createConnection(asked, callback) {
      const host = String(asked.host || 'localhost').replace(/^\[|\]$/g, '');
      const port = Number(asked.port) || (secure ? 443 : 80);
      const proxy = asked.socketPath ? null : proxyFor(secure, host, port);
      if (!proxy) return own.call(this, asked, callback);
      dial(proxy, secure, host, port, asked, callback);
      return undefined; // the request then waits for the callback
    }
    return original.call(this, { ...options, createConnection }, ...rest);
  };
}

// 4. Under `faultwire audit` only: the same chance in each run, of Math.random and node:crypto (with
//    the global crypto). A worker has its own. The originals are called first, since they say which
//    arguments are wrong. Keys that OpenSSL makes, and names of mkdtemp, stay as they are.
function fixChance(seed, mark) {
  const crypto = require('node:crypto');
  const { threadId } = require('node:worker_threads');
  const { createHash, randomBytes, randomFill, randomFillSync, randomInt, randomUUID } = crypto;
  const key = [seed, threadId, ...process.argv.slice(1)].join(' ');
  let taken = 0;
  const take = (size) => {
    taken += 1;
    if (!size) return Buffer.alloc(0);
    return createHash('shake256', { outputLength: size }).update(`${key} ${taken}`).digest();
  };
  const uuid = () => {
    const bytes = take(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  };
  // The part of a buffer that a call asks for; offset and size count elements, as in Node.
  const fill = (buffer, offset = 0, size = undefined) => {
    const width = buffer.BYTES_PER_ELEMENT ?? 1;
    const start = offset * width;
    const length = size === undefined ? buffer.byteLength - start : size * width;
    take(length).copy(Buffer.from(buffer.buffer ?? buffer, (buffer.byteOffset ?? 0) + start, length));
    return buffer;
  };
  Math.random = () => take(6).readUIntBE(0, 6) / 2 ** 48;
  crypto.randomBytes = crypto.pseudoRandomBytes = (size, callback) => {
    const made = fill(randomBytes(size));
    if (callback === undefined) return made;
    process.nextTick(callback, null, made);
  };
  crypto.randomFillSync = (buffer, ...range) => fill(randomFillSync(buffer, ...range), ...range);
  crypto.randomFill = (buffer, ...rest) => {
    const callback = rest.pop();
    randomFill(buffer, ...rest, (error) => callback(error, error ? undefined : fill(buffer, ...rest)));
  };
  crypto.randomInt = (...given) => {
    const callback = typeof given.at(-1) === 'function' ? given.pop() : undefined;
    randomInt(...given);
    const [low, high] = given.length > 1 ? given : [0, given[0]];
    const made = low + Number(take(8).readBigUInt64BE() % BigInt(high - low));
    if (callback === undefined) return made;
    process.nextTick(callback, null, made);
  };
  crypto.randomUUID = (options) => (randomUUID(options), uuid());
  const web = Object.getPrototypeOf(crypto.webcrypto);
  const { getRandomValues } = web;
  // The module's own getRandomValues is a getter of this one, which is then called on anything.
  web.getRandomValues = (array) => fill(getRandomValues.call(crypto.webcrypto, array));
  web.randomUUID = uuid;
  require('node:fs').appendFileSync(mark, 'node\n');
}

if (process.env.FAULTWIRE_CHANCE_SEED && process.env.FAULTWIRE_CHANCE_MARK) {
  fixChance(process.env.FAULTWIRE_CHANCE_SEED, process.env.FAULTWIRE_CHANCE_MARK);
}
coverFetch();
coverAgent(http.Agent, false);
coverAgent(https.Agent, true);
coverUpgrade(http, false);
coverUpgrade(https, true);
syncBuiltinESMExports();
