// Package script is the deterministic agent: it does what a file says, the same way every time, with no model and no key.
// The guided tour, the tests and the benchmarks run on it. It owns the file format and the agent that plays it. It must not
// know sockets, stores or screens.
//
// # The file
//
// One JSON object on each line; blank lines and lines that begin with // are skipped. The first key of a line is its verb,
// the others are its options; a key that is not known is an error. Durations are Go's ("20ms").
//
// Before the first turn the script may describe the agent:
//
//	{"agent":"NAME","version":"1","settings":[{"id":"mode","value":"ask","choices":[{"id":"ask","label":"Ask"}]}],"commands":[]}
//	{"resumes":true}                  goes on with a turn that a restart cut
//	{"window":200000}                 tokens of context; context.updated is told at the end of each turn
//	{"pace":{"words":1,"delay":"9ms"}}  how text streams unless a step says otherwise; "runes" cuts by runes
//
// A turn begins with the messages it is for. The first that matches is played; without a match the agent echoes.
//
//	{"on":"PATTERN"}                  a part of the text, or with * a pattern for all of it
//	{"turn":3}                        the third message of the session
//
// Its steps follow:
//
//	{"think":TEXT} {"say":TEXT}       part, agent, task, parent, times, words, runes, delay, open (no end)
//	{"bytes":BASE64}                  says bytes that need not be text, in one delta
//	{"burst":N}                       N deltas: size (bytes), parts (interleaved), kind (text, reasoning), delay
//	{"tool":NAME}                     id, kind, title, input, stream (the input), locations, output, content, replace, result,
//	                                  status, error, exit, task, parent, times, words, runes, delay, open
//	{"ask":KIND}                      fields of an approval; explain; then, else, when {option, decision or outcome: steps}
//	{"plan":QUESTION}                 summary, tasks [{id,title,description,after,steps,result}], confirm, parallel,
//	                                  aggregate (text), else (steps when it is denied)
//	{"progress":TEXT}                 of the task it stands in
//	{"emit":TYPE}                     data, task, parent: any durable event
//	{"notice":TEXT}                   level, code
//	{"context":{…}} {"usage":{…}}     sets and tells the numbers
//	{"retry":CAUSE}                   limit, delay, code, times: retry.scheduled and its wait, times times
//	{"recover":ACTION}                cause, delay, failure, code: recovery.started, then succeeded or failed
//	{"sleep":DURATION}
//	{"wait":GATE}                     until Script.OpenGate, or with "file:PATH" until the file is there
//	{"spawn":[COMMAND,ARG…]}          runs a process group until the agent is closed
//	{"fail":TEXT}                     code: the agent breaks off; in a task, the task fails
//	{"end":REASON}                    code, message, usage: the turn ends
//
// In texts, titles, commands and ids these are replaced: {message} {n} (the message's number) {turn} and, after an
// ask, {outcome} {decision} {option} {reason} {by} {answers} {tasks} {patch}; a setting's id stands for its value.
package script
