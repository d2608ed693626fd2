// Node's HTTP/1.1 server, plain and with TLS: CERTIFICATE. Prints its two ports, then a line for each request.
const http = require("http")
const https = require("https")
const pem = require("fs").readFileSync(process.argv[2])
const serve = (request, response) => {
  console.log(JSON.stringify(`${request.method} ${request.url}`))
  request.on("data", () => {})
  request.on("end", () => response.end("ok"))
}
// As lenient as it can be made: what it takes here it takes somewhere.
const options = { insecureHTTPParser: true, key: pem, cert: pem }
const servers = [http.createServer(options, serve), https.createServer(options, serve)]
let ready = 0
for (const server of servers)
  server.listen(0, "127.0.0.1", () => {
    ready += 1
    if (ready === 2) console.log(JSON.stringify(servers.map((one) => one.address().port)))
  })
