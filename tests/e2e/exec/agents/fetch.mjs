// Calls the model with Node's global fetch.
const response = await fetch(process.argv[2], {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer any' },
  body: process.argv[3],
});
console.log(response.status, (await response.json()).object);
