// Clients of Node that ask no environment for a proxy: `agent.mjs KIND URL COUNT`.
import http2 from "node:http2";
import got from "got";
import { Pool } from "undici";
import WebSocket from "ws";

const [kind, url, count] = process.argv.slice(2);
const { origin, pathname } = new URL(url);

const kinds = {
  async got() {
    return (await got(url, { http2: true, throwHttpErrors: false, retry: { limit: 0 } })).statusCode;
  },
  async pool() {
    const pool = new Pool(origin);
    const { statusCode, body } = await pool.request({ path: pathname, method: "GET" });
    await body.text();
    await pool.close();
    return statusCode;
  },
  http2() {
    return new Promise((resolve, reject) => {
      const session = http2.connect(origin);
      session.on("error", reject);
      const stream = session.request({ ":path": pathname });
      stream.on("response", (headers) => resolve(headers[":status"]));
      stream.on("error", reject);
      stream.on("close", () => session.close());
      stream.resume();
    });
  },
  ws() {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url.replace("https:", "wss:"), {
        headers: { authorization: "Bearer sk-test-key-of-nobody" },
      });
      socket.on("message", () => socket.close());
      socket.on("close", () => resolve(101));
      socket.on("error", reject);
    });
  },
};

for (let left = Number(count); left > 0; left--) console.log(await kinds[kind]());
