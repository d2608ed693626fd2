// An S3 server that keeps objects in a folder, so that it can be killed and started again:
// node agent.mjs FOLDER PORT BUCKET; prints a line once it listens.
import S3rver from "s3rver";

const [folder, port, bucket] = process.argv.slice(2);
const server = new S3rver({
  directory: folder, port: Number(port), address: "127.0.0.1", silent: true, configureBuckets: [{ name: bucket }],
});
await server.run();
console.log("listens");
