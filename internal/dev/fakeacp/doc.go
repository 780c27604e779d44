// Package fakeacp is an Agent Client Protocol agent for tests. It runs the steps in its prompt,
// including the quirks of real agents. A test binary becomes the agent by calling Main from
// TestMain when Enabled returns true; Connect runs the agent in the process of the test.
//
// Each line of a prompt is a step:
//
//	say TEXT · think TEXT     sends a chunk of the answer, of the reasoning
//	update JSON               sends session/update with that update
//	in ID STEP                runs say, think, update or ask in the session of a sub-agent, which an update announced;
//	                          session/cancel of that session ends its work
//	ask JSON                  requests permission for that toolCall, then says the outcome
//	askon JSON                like ask, but says something before it waits for the response
//	askthen JSON              like ask with the call "ask", then sends the update "then"
//	askwith KINDS JSON        like ask, with options of these comma-separated kinds only
//	steer OUTCOME             waits for a message by steering, says it and answers with that outcome;
//	                          with silent it does not answer, with error it answers with an error
//	drain                     asks for messages as Qwen Code does, and says them
//	request METHOD            sends a request to the client, then says the code of the response
//	line TEXT · bytes HEX     writes an arbitrary line
//	burst N · big N           sends N chunks; sends one chunk of N bytes
//	image N                   sends a tool call whose output is an image of N bytes
//	stderr TEXT               writes to standard error
//	child                     starts a child that ignores TERM, and says its pid
//	sessions                  says the number of prompts in the session, loaded ones included
//	blocks                    says the content blocks of the prompt, one a line
//	option ID                 says the value of an option
//	getenv NAME               says the value of an environment variable
//	mcp                       says the MCP servers of the session as JSON
//	mcpcall SERVER TOOL JSON  starts that MCP server, calls the tool and says its result
//	after TEXT                says TEXT after the response to the prompt
//	hang                      waits for session/cancel, then stops with cancelled
//	deaf                      waits for ever and ignores session/cancel
//	stop REASON               stops with that reason instead of end_turn
//	usage JSON                puts that usage into the response to the prompt
//	fail CODE TEXT            responds with that error
//	exit N                    exits with that status
//
// The environment variable FAKEACP holds the traits of the agent:
//
//	plain                     no trait
//	load · resume · fork      supports that method
//	list                      lists its sessions, two a page
//	http · sse                takes MCP servers of that type
//	late                      replays a session after its response to session/load
//	slow                      refuses to restore a session twice, with an internal error
//	auth                      requires a login
//	terminal                  offers a login in a terminal
//	loggedout                 reports that no user is logged in, unless FAKE_KEY is set
//	modes · models · config   has these options
//	auto                      reports itself as Claude, and starts in mode auto
//	blind                     takes no images
//	embed                     takes embedded resources
//	steering                  announces steering
//	qwen                      names itself qwen-code
//	noise                     prints lines before the first message
//	stubborn                  exits neither at the end of its input nor on TERM
//	mute                      never responds to initialize
//	v2                        speaks version 2
//
// FAKEACP_DIR is the directory of saved sessions. The file steered in it has a line for each message that
// came by steering.
package fakeacp
