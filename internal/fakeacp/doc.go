// Package fakeacp is an Agent Client Protocol agent that does what its prompt says, oddities of real agents included. A
// test binary becomes the agent by calling Main from its TestMain when Wanted.
//
// Each line of a prompt is one step:
//
//	say TEXT · think TEXT     a chunk of the answer, of the thinking
//	update JSON               a session/update with that update
//	ask JSON                  asks permission for that toolCall, then says the option chosen, or "cancelled"
//	askon JSON                the same, and speaks on before it waits for the answer
//	askwith KINDS JSON        the same with options of these kinds only, separated by commas
//	request METHOD            sends a request of the client, then says the code of the answer
//	line TEXT · bytes HEX     writes a line that may be anything
//	burst N · big N           N chunks; one chunk of N bytes
//	stderr TEXT               writes to standard error
//	child                     starts a child that outlives its parent if it can, and says its pid
//	sessions                  says how many prompts the session has had, loaded ones included
//	option ID                 says the value of an option that was set
//	after TEXT                says TEXT once the prompt has been answered
//	hang                      waits for session/cancel, then stops as cancelled
//	deaf                      waits and ignores session/cancel, for ever
//	stop REASON               ends with that reason instead of end_turn
//	fail CODE TEXT            ends with that error
//	exit N                    exits at once with that status
//
// The environment variable FAKEACP holds words that say how the agent is: load, resume, fork (what it offers); late
// (it replays a conversation after it has answered session/load); auth (wants a
// login); modes, models, config (options it has); noise (prints before it speaks); stubborn (exits neither when its input
// ends nor on TERM); mute (never answers initialize); v2 (speaks that version); plain for none of them.
// FAKEACP_DIR is where its sessions outlive it.
package fakeacp
