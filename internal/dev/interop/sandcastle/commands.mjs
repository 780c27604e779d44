// The line protocol of the programs in this directory: commands on stdin and reports on stdout, each
// one JSON object a line.
import { createInterface } from "node:readline"

export const print = (line) => console.log(JSON.stringify(line))

// handleCommands calls the handler of each line's verb with the line's other fields and answers with
// its result or error. The program exits at the end of its input.
export const handleCommands = async (verbs) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const { verb, id, ...rest } = JSON.parse(line)
    Promise.resolve()
      .then(() => verbs[verb](rest))
      .then((value) => print({ id, value: value ?? null }), (error) => print({ id, error: plain(error) }))
  }
  process.exit(0)
}

const plain = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : error)
