// Package soak runs a server, its agents and many clients of all six protocols for minutes or
// hours, cuts connections, kills agents and the server, and checks that nothing acknowledged is
// lost, that every client gets every event once and in order, that every command acts once, and
// that the server holds no more after its clients have left than before. It holds only tests.
//
// The run has the build tag soak; .ci/run soak runs two minutes of it. By hand, for a night:
//
//	go test -tags soak -v -timeout 0 ./internal/dev/soak -run TestSoak$ -for 8h
//
// Its flags are the fields of options in flags_test.go. The seed is printed, and -seed N sets it:
// it determines sessions, clients and faults, but not how the processes are scheduled.
package soak
