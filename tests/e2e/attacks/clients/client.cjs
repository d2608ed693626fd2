// A TLS client: PORT NAME ROOT. Exits with 1 where it does not take the server's certificate.
const [port, name, root] = process.argv.slice(2)
const ip = require("net").isIP(name)
const asked = { host: "127.0.0.1", port, ca: require("fs").readFileSync(root) }
if (ip) asked.checkServerIdentity = (_, found) => require("tls").checkServerIdentity(name, found)
else asked.servername = name
const socket = require("tls").connect(asked, () => socket.end())
socket.on("error", (error) => {
  console.log(error.message)
  process.exit(1)
})
