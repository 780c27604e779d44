package replay

// sandcastleDifferences returns the messages of agentctl's server that the real one does not send,
// those that do not show at agentctl's client, and differences of shape, each with the reason.
func sandcastleDifferences() (own, silent, exceptions map[string]string) {
	const (
		oneCause = "one cause is enough"
		noParts  = "parts that repeat the content are dropped; a message without parts is valid"
		cursor   = "no recording has a late subscription after a finished turn; chat.getState has the same field"
		notAsked = "agentctl's client never asks for it"
		correct  = "agentctl's client sends no such request"
		left     = "the client has left the stream"
	)
	own = map[string]string{
		"StreamEvent/data-agentctl":   "carries native events to agentctl's client; others ignore it",
		"StreamEvent/error":           "the reason why a turn failed; the real server does not tell it",
		"Exit/chat.subscribe/Success": "ends the stream of a deleted session, which has no more events",
	}
	for _, tag := range []string{
		"chat.createPR", "nope.nope", "repository.list", "session.create", "session.delete", "session.get",
		"session.list", "session.listByRepository", "session.listTurns", "session.touch", "session.update",
		"worktree.list",
	} {
		own["Exit/"+tag+"/Die"] = "an unknown request ends alone"
	}
	exceptions = map[string]string{
		"Exit/chat.subscribe/Interrupt.exit.cause.left: missing":       oneCause,
		"Exit/chat.subscribe/Interrupt.exit.cause.right: missing":      oneCause,
		"Exit/chat.getState/Success.exit.value.queue[].parts: missing": noParts,
	}
	for _, field := range []string{"lastMessageId", "lastMessageAt"} {
		for _, message := range []string{"InitialState", "Chunk.values[]"} {
			exceptions[message+".snapshot.historyCursor."+field+": string, not [null]"] = cursor
		}
	}
	silent = map[string]string{
		"Defect/SyntaxError again":            "the client has closed the connection",
		"Defect/Unknown request tag":          "the client has no request in progress",
		"Exit/chat.createPR/Success":          notAsked,
		"Exit/chat.getHistory/Fail":           correct,
		"Exit/chat.respondToToolApproval/Die": correct,
		"Exit/chat.send/Die":                  correct,
		"Exit/chat.send/Fail":                 "the client subscribes first, which fails",
		"Exit/chat.subscribe/Interrupt":       left,
		"Exit/unknown/Success":                notAsked,
		"Pong":                                "it has no field",
		"SessionDeleted":                      "its one field repeats the session of the stream",
	}
	for _, exit := range []string{
		"chat.getState/Success", "chat.getState/Fail", "chat.getState/Die", "repository.list/Success",
		"session.create/Success", "session.delete/Success", "session.get/Success", "session.get/Fail",
		"session.list/Success", "session.listByRepository/Success", "session.listTurns/Success",
		"session.touch/Success", "session.update/Success", "worktree.list/Success",
	} {
		silent["Exit/"+exit] = notAsked
	}
	return own, silent, exceptions
}
