// Package script is a deterministic agent that plays a script file, without a model or an API key.
// The guided tour, tests and benchmarks use it.
//
// It owns the file format and the agent that plays it. It must not know sockets, stores or screens.
//
// # The file
//
// Each line is a JSON object. Blank lines and lines that start with // are skipped. The first key
// of a line is its verb, the others are options. An unknown key is an error. Durations are in Go
// syntax ("20ms").
//
// Before the first turn the script may describe the agent:
//
//	{"agent":"NAME","version":"1","commands":[],"settings":[{"id":"mode","value":"ask",
//	  "choices":[{"id":"ask","label":"Ask"}]}]}
//	{"resumes":true}        continues a turn after a restart
//	{"steers":true}         takes messages into a turn, in steps "steer"
//	{"window":200000}       size of the context in tokens; every turn then ends with
//	                        context.updated
//	{"pace":{"words":1,"delay":"9ms"}}
//	                        default rate of text; "runes" counts runes instead of words
//
// A turn starts with the messages it answers. The first match is played. Without a match the agent
// echoes the message.
//
//	{"on":"PATTERN"}        part of the text, or with * a pattern for all of it
//	{"turn":3}              the third message of the session
//
// Its steps follow:
//
//	{"think":TEXT} {"say":TEXT}
//	                        part, agent, task, parent, times, words, runes, delay, open (no end)
//	{"bytes":BASE64}        one text delta of arbitrary bytes
//	{"burst":N}             N deltas: size (bytes), parts (interleaved), kind (text, reasoning),
//	                        delay
//	{"tool":NAME}           id, kind, title, input, stream (the input), locations, output,
//	                        content, replace, result, status, error, exit, task, parent, times,
//	                        words, runes, delay, open
//	{"ask":KIND}            fields of an approval; explain; then, else, when {option, decision or
//	                        outcome: steps}
//	{"plan":QUESTION}       summary, tasks [{id,title,description,after,steps,result}], confirm,
//	                        parallel, aggregate (text), else (steps after a denial)
//	{"progress":TEXT}       of the enclosing task
//	{"emit":TYPE}           data, task, parent: any durable event
//	{"notice":TEXT}         level, code
//	{"context":{…}} {"usage":{…}}
//	                        sets and emits the numbers
//	{"retry":CAUSE}         limit, delay, code, times: retry.scheduled and its delay, repeated
//	                        times times
//	{"recover":ACTION}      cause, delay, failure, code: recovery.started, then succeeded or
//	                        failed
//	{"sleep":DURATION}
//	{"wait":GATE}           until Script.OpenGate, or with "file:PATH" until the file exists
//	{"spawn":[COMMAND,ARG…]}
//	                        runs a process group until the agent closes
//	{"steer":N}             waits for N messages that join the turn; refuse (the reason)
//	{"fail":TEXT}           code: the agent fails; in a task, the task fails
//	{"end":REASON}          code, message, usage: the turn ends; with the reason limited, resets_in (the
//	                        duration of the limit) and taken_in (the message is not sent again)
//
// Variables in texts, titles, commands and ids: {message}, {n} (the number of the message), {turn},
// {steered} (the last message that joined the turn), the id of a setting and, after an ask, {outcome}
// {decision} {option} {reason} {by} {answers} {tasks} {patch}.
package script
