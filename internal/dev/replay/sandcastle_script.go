package replay

import "strings"

// sandcastleScript is the agent of agentctl's server. It does at least what the recorded agents
// did.
var sandcastleScript = strings.ReplaceAll(strings.NewReplacer(
	"ANSWER", `{"say":"Answer to: {message} (mode bypassPermissions)"}
USAGE
{"end":"completed","usage":{"input":1500,"output":80,"cached":200,"currency":"USD"}}`,
	"QUESTION!", `{"ask":"question","title":"Questions","questions":[`+
		`{"id":"q1","text":"Red or blue?","choices":[{"id":"c-red","label":"red","about":"warm"},`+
		`{"id":"c-blue","label":"blue","about":"cold"}]},`+
		`{"id":"q2","text":"Which days?","many":true,"choices":[{"id":"c-mon","label":"mon","about":"m"},`+
		`{"id":"c-tue","label":"tue","about":"t"}]}]}`,
	"COLOURS!", `{"ask":"question","title":"Questions","questions":[`+
		`{"id":"q1","text":"Which colour?","choices":[{"id":"c-green","label":"green","about":"calm"},`+
		`{"id":"c-grey","label":"grey","about":"dull"}]},`+
		`{"id":"q2","text":"Which rooms, and why?","many":true,"choices":[{"id":"c-attic","label":"attic","about":"up"},`+
		`{"id":"c-cellar","label":"cellar","about":"down"}]}]}`,
	"PLAN!", `{"ask":"plan","title":"# The plan\n1. look\n2. change"}`,
	"SLOW!", strings.Repeat("{\"say\":\"slow \"}\nUSAGE\n{\"sleep\":\"400ms\"}\n", 20),
).Replace(`
{"agent":"castle","settings":[{"id":"mode","value":"build","choices":[{"id":"build","label":"Build"},{"id":"plan","label":"Plan"}]}]}
{"on":"*SLOW*"}
{"think":"Let me think about it."}
USAGE
SLOW!
{"say":"Let me look. "}
{"tool":"Bash","id":"bash{n}","input":{"command":"ls -la","description":"list"},"open":true}
USAGE
{"tool":"Bash","id":"bash{n}","output":"a.txt\nb.txt"}
ANSWER
{"on":"*FAIL*"}
{"think":"Let me think about it."}
USAGE
{"sleep":"200ms"}
{"fail":"the model is gone"}
{"on":"*QUESTION*PLAN*"}
USAGE
QUESTION!
{"say":"An answer."}
USAGE
USAGE
PLAN!
{"say":"The plan."}
USAGE
ANSWER
{"on":"*QUESTION*"}
{"think":"Let me think about it."}
USAGE
USAGE
QUESTION!
{"say":"An answer."}
USAGE
ANSWER
{"on":"*PLAN*"}
USAGE
PLAN!
{"say":"The plan."}
USAGE
ANSWER
{"on":"MAXTURNS*"}
{"say":"Answer to: {message} (mode bypassPermissions)"}
USAGE
{"end":"max_tokens","usage":{"input":1500,"output":80,"cached":200,"currency":"USD"}}
{"on":"paint the house"}
USAGE
COLOURS!
ANSWER
{"on":"ask me again"}
USAGE
COLOURS!
ANSWER
{"on":"plan the garden"}
USAGE
PLAN!
USAGE
PLAN!
ANSWER
{"on":"plan the trip"}
USAGE
PLAN!
ANSWER
{"on":"paint the wall"}
{"say":"First coat. "}
USAGE
{"sleep":"1h"}
{"on":"t* *"}
{"say":"It begins. "}
USAGE
{"sleep":"400ms"}
ANSWER
{"on":"find the key"}
{"think":"It must be here."}
USAGE
{"say":"Looking. "}
{"tool":"Bash","id":"bash{n}","input":{"command":"ls drawer"},"output":"key\nspoon"}
ANSWER
{"on":"describe each"}
{"say":"The first one"}
USAGE
{"end":"max_tokens"}
{"on":"and the table"}
{"fail":"the model is gone"}
{"on":"*"}
{"think":"Let me think about it."}
USAGE
{"say":"Let me look. "}
{"tool":"Bash","id":"bash{n}","input":{"command":"ls -la","description":"list"},"open":true}
USAGE
{"tool":"Bash","id":"bash{n}","output":"a.txt\nb.txt"}
{"tool":"Read","id":"read{n}","input":{"file_path":"/nope"},"open":true}
USAGE
{"tool":"Read","id":"read{n}","status":"failed","error":"File does not exist."}
{"tool":"Task","id":"task{n}","input":{"description":"look around","prompt":"go","subagent_type":"Explore"},"open":true}
USAGE
{"tool":"Grep","id":"grep{n}","parent":"task{n}","input":{"pattern":"foo"},"open":true}
USAGE
{"tool":"Grep","id":"grep{n}","parent":"task{n}","output":"x.ts:1"}
{"tool":"Task","id":"task{n}","output":"found foo"}
{"say":"That was it."}
USAGE
ANSWER
`), "USAGE", `{"usage":{"input":1000,"output":50,"cached":200,"currency":"USD","model":"fake-claude"}}`)
