// mockttp as a pass-through proxy: node mockttp_proxy.cjs CA_PEM CA_KEY
// The upstream's CA comes by NODE_EXTRA_CA_CERTS: given as an option, all roots would be parsed again
// for every connection. Prints {"port": N} and ends with its standard input.
const mockttp = require("mockttp");

(async () => {
  const [certPath, keyPath] = process.argv.slice(2);
  const server = mockttp.getLocal({ https: { certPath, keyPath }, recordTraffic: false, cors: false });
  await server.forAnyRequest().thenPassThrough();
  await server.forAnyWebSocket().thenPassThrough();
  await server.start();
  process.stdin.resume().on("end", () => process.exit(0));
  console.log(JSON.stringify({ port: server.port }));
})();
