// A Sandcastle client driven by commands. Verbs:
//   connect {connection}                             opens a connection
//   waitOpen {connection}                            waits until it is open again
//   subscribe {connection, stream, session, tag}     opens a stream; reports {stream, event} and {stream, end}
//   pause {stream}, resume {stream}                  stops and restarts reading a stream
//   unsubscribe {stream}                             closes it
//   call {connection, tag, payload}                  sends a request
//   cut {connection}                                 breaks the connection
//   stats {connection}                               returns the chunk counters
import { Cause, Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { handleCommands, print } from "./commands.mjs"
import { connect } from "./connection.mjs"
import { chat, document, invalid } from "./schema.mjs"

const [url] = process.argv.slice(2)
const connections = {}
const streams = {}

const run = (effect) =>
  Effect.runPromiseExit(effect).then((exit) => {
    if (Exit.isSuccess(exit)) return exit.value
    const failure = Cause.failureOption(exit.cause)
    throw failure._tag === "Some" ? failure.value : new Error(Cause.squash(exit.cause))
  })

const group = document.merge(chat, invalid)
const request = ({ rpc }, tag, payload) => {
  const [first, second] = tag.split(".")
  return second ? rpc[first][second](payload) : rpc[first](payload)
}

const resumed = (s) => (s.gate ? Deferred.await(s.gate) : Effect.void)

await handleCommands({
  connect: async ({ connection }) => {
    connections[connection] = await connect(url, group)
  },
  waitOpen: ({ connection }) => connections[connection].waitOpen(),
  subscribe: ({ connection, stream, session, tag }) => {
    const s = (streams[stream] = { gate: null })
    const all = request(connections[connection], tag, { sessionId: session }).pipe(
      Stream.tap(() => Effect.suspend(() => resumed(s))),
      Stream.runForEach((event) => Effect.sync(() => print({ stream, event })))
    )
    s.fiber = Effect.runFork(all)
    s.fiber.addObserver((exit) => print({ stream, end: Exit.isSuccess(exit) ? "done" : endReason(exit.cause) }))
  },
  pause: async ({ stream }) => {
    streams[stream].gate = await Effect.runPromise(Deferred.make())
  },
  resume: ({ stream }) => {
    const { gate } = streams[stream]
    streams[stream].gate = null
    return Effect.runPromise(Deferred.succeed(gate, undefined))
  },
  unsubscribe: async ({ stream }) => {
    await Effect.runPromise(Fiber.interrupt(streams[stream].fiber))
  },
  call: ({ connection, tag, payload }) => run(request(connections[connection], tag, payload)),
  cut: ({ connection }) => connections[connection].cut(),
  stats: ({ connection }) => connections[connection].stats
})

function endReason(cause) {
  if (Cause.isInterruptedOnly(cause)) return "interrupted"
  const failure = Cause.failureOption(cause)
  if (failure._tag === "Some") return failure.value._tag ?? failure.value
  return String(Cause.squash(cause))
}
