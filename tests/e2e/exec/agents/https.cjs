// Calls the model with node:https, through the global agent or one of its own.
const https = require('node:https');
const agent = process.argv[4] === 'own' ? new https.Agent({ keepAlive: true }) : undefined;
const request = https.request(process.argv[2], { method: 'POST', agent }, (response) => {
  let text = '';
  response.on('data', (piece) => (text += piece));
  response.on('end', () => {
    console.log(response.statusCode, JSON.parse(text).object);
    agent?.destroy();
  });
});
request.setHeader('content-type', 'application/json');
request.setHeader('authorization', 'Bearer any');
request.end(process.argv[3]);
