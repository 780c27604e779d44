// A client of Sandcastle that does what it is told. Verbs:
//   link {link}                        another connection
//   back {link}                        waits until it is there
//   open {link, stream, session, tag}  a stream; each event is {stream, event}, its end {stream, end}
//   hold {stream}, go {stream}         take nothing of a stream for a while
//   close {stream}                     leave it
//   call {link, tag, payload}          a request
//   cut {link}                         break the connection
//   seen {link}                        what passed
import { Cause, Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { obey, print } from "./console.mjs"
import { link } from "./link.mjs"
import { chat, document, wrong } from "./schema.mjs"

const [url] = process.argv.slice(2)
const links = {}
const streams = {}

const run = (effect) =>
  Effect.runPromiseExit(effect).then((exit) => {
    if (Exit.isSuccess(exit)) return exit.value
    const failure = Cause.failureOption(exit.cause)
    throw failure._tag === "Some" ? failure.value : new Error(Cause.squash(exit.cause))
  })

const group = document.merge(chat, wrong)
const ask = ({ rpc }, tag, payload) => {
  const [first, second] = tag.split(".")
  return second ? rpc[first][second](payload) : rpc[first](payload)
}

const held = (s) => (s.gate ? Deferred.await(s.gate) : Effect.void)

await obey({
  link: async ({ link: name }) => {
    links[name] = await link(url, group)
  },
  back: ({ link: name }) => links[name].open(),
  open: ({ link: name, stream, session, tag }) => {
    const s = (streams[stream] = { gate: null })
    const all = ask(links[name], tag, { sessionId: session }).pipe(
      Stream.tap(() => Effect.suspend(() => held(s))),
      Stream.runForEach((event) => Effect.sync(() => print({ stream, event })))
    )
    s.fiber = Effect.runFork(all)
    s.fiber.addObserver((exit) => print({ stream, end: Exit.isSuccess(exit) ? "done" : word(exit.cause) }))
  },
  hold: async ({ stream }) => {
    streams[stream].gate = await Effect.runPromise(Deferred.make())
  },
  go: ({ stream }) => {
    const { gate } = streams[stream]
    streams[stream].gate = null
    return Effect.runPromise(Deferred.succeed(gate, undefined))
  },
  close: async ({ stream }) => {
    await Effect.runPromise(Fiber.interrupt(streams[stream].fiber))
  },
  call: ({ link: name, tag, payload }) => run(ask(links[name], tag, payload)),
  cut: ({ link: name }) => links[name].cut(),
  seen: ({ link: name }) => links[name].seen
})

function word(cause) {
  if (Cause.isInterruptedOnly(cause)) return "interrupted"
  const failure = Cause.failureOption(cause)
  if (failure._tag === "Some") return failure.value._tag ?? failure.value
  return String(Cause.squash(cause))
}
