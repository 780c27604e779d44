// The programs beside this file are told what to do line by line, and say line by line what they see: JSON objects both ways.
import { createInterface } from "node:readline"

export const print = (line) => console.log(JSON.stringify(line))

// obey calls the verb of each line that comes with what else the line holds. What it returns is the answer; what it throws, too.
// The program ends with its input.
export const obey = async (verbs) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const { verb, id, ...rest } = JSON.parse(line)
    Promise.resolve()
      .then(() => verbs[verb](rest))
      .then((value) => print({ id, value: value ?? null }), (error) => print({ id, error: plain(error) }))
  }
  process.exit(0)
}

const plain = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : error)
