// Runs an agent's script once for each stage, one after the other: node sdk_stages.mjs SCRIPT STAGE...
import { pathToFileURL } from 'node:url';

const [, , script, ...stages] = process.argv;
for (const [number, stage] of stages.entries()) {
  process.argv = [process.argv[0], script, ...stage.split(' ')];
  await import(`${pathToFileURL(script)}?stage=${number}`);
}
