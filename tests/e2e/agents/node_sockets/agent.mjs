// An agent on the official Node SDK over WebSockets, as its own program: prints what it met as JSON.
//     node agent.mjs [realtime responses]
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { ResponsesWS } from 'openai/resources/responses/ws';

const ways = process.argv.slice(2).length ? process.argv.slice(2) : ['realtime', 'responses'];
const parameters = { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] };
const tools = [{ type: 'function', name: 'calculator', parameters }];
const blank = () => ({ text: '', finish: null, events: 0, results: [], errors: [], types: [], code: null });

function take(seen, event) {
  seen.events += 1;
  seen.types.push(event.type);
}

function result(seen, call) {
  seen.results.push('42');
  return { type: 'function_call_output', call_id: call.call_id, output: '42' };
}

function realtime(seen) {
  return new Promise((resolve) => {
    const rt = new OpenAIRealtimeWS({ model: 'gpt-realtime' }, new OpenAI());
    rt.on('event', (event) => take(seen, event));
    rt.on('error', (error) => seen.errors.push(error.message));
    rt.on('response.output_text.delta', (event) => { seen.text += event.delta; });
    rt.on('response.done', ({ response }) => {
      const calls = response.output.filter((item) => item.type === 'function_call');
      seen.finish = response.status_details?.reason ?? response.status;
      if (!calls.length) { rt.close(); return; }
      for (const call of calls) rt.send({ type: 'conversation.item.create', item: result(seen, call) });
      rt.send({ type: 'response.create' });
    });
    rt.socket.on('open', () => {
      rt.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'], tools } });
      const content = [{ type: 'input_text', text: 'What is 6*7?' }];
      rt.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
      rt.send({ type: 'response.create' });
    });
    rt.socket.on('close', (code) => { seen.code = code; resolve(seen); });
  });
}

function responses(seen) {
  return new Promise((resolve) => {
    const ws = new ResponsesWS(new OpenAI());
    ws.on('event', (event) => {
      take(seen, event);
      if (event.type === 'response.output_text.delta') seen.text += event.delta;
      if (!['response.completed', 'response.incomplete', 'response.failed'].includes(event.type)) return;
      const { response } = event;
      const calls = response.output.filter((item) => item.type === 'function_call');
      seen.finish = response.incomplete_details?.reason ?? response.status;
      if (!calls.length) { ws.close(); return; }
      const input = calls.map((call) => result(seen, call));
      ws.send({ type: 'response.create', model: 'gpt-5-mini', previous_response_id: response.id, input, tools });
    });
    ws.on('error', (error) => seen.errors.push(error.message));
    ws.on('close', (code) => { seen.code = code; resolve(seen); });
    ws.send({ type: 'response.create', model: 'gpt-5-mini', input: 'What is 6*7?', tools });
  });
}

const met = {};
for (const way of ways) met[way] = await { realtime, responses }[way](blank());
console.log(JSON.stringify(met));
