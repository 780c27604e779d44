// Uses a session through the generated client, and prints what it saw as one line of JSON.
import { client } from './client/client.gen';
import {
  createSession, decide, followSession, followSessions, getMessage, listApprovals, listSessions, sendMessage,
} from './client/sdk.gen';

declare const process: { env: Record<string, string>; exit(code: number): never };

client.setConfig({ baseUrl: process.env.URL, auth: () => process.env.TOKEN });

async function main() {
  const throwOnError = true;
  const key = { 'Idempotency-Key': 'create-1' };
  const created = (await createSession({ throwOnError, headers: key, body: { name: 'fix' } })).data;
  const again = (await createSession({ throwOnError, headers: key, body: { name: 'fix' } })).data;

  const types: string[] = [];
  const stop = new AbortController();
  const { stream } = await followSession({ path: { id: created.session }, signal: stop.signal });
  const followed = (async () => {
    for await (const event of stream) {
      if (!('type' in event)) continue; // a reset
      types.push(event.type);
      if (event.type === 'turn.ended') break;
    }
  })();

  const listed: string[] = [];
  const list = await followSessions({ signal: stop.signal });
  for await (const event of list.stream) {
    listed.push(...('sessions' in event ? event.sessions.map((s) => s.session) : []));
    break;
  }

  const sent = (await sendMessage({
    throwOnError, path: { id: 'fix' }, query: { wait: 'turn', timeout: 60 }, body: { text: 'please' },
  })).data;
  const [request] = (await listApprovals({ throwOnError, path: { id: 'fix' } })).data.approvals;
  const decided = (await decide({
    throwOnError, path: { id: 'fix', request: request.request }, body: { decision: 'allow_once' },
  })).data;
  const result = (await getMessage({
    throwOnError, path: { id: 'fix', message_id: sent.message_id }, query: { wait: 'turn', timeout: 60 },
  })).data;
  await followed;
  const second = await decide({ path: { id: 'fix', request: request.request }, body: { decision: 'deny' } });
  const sessions = (await listSessions({ throwOnError })).data.sessions.length;
  console.log(JSON.stringify({
    created, again, needs: sent.needs, command: request.command, outcome: decided.outcome, result, types, listed,
    sessions, conflict: second.error?.error?.code, status: second.response?.status,
  }));
  stop.abort();
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
