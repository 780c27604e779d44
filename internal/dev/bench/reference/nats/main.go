package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	if err := serve(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "nats:", err)
		os.Exit(1)
	}
}

// serve prints the addresses of TCP and WebSocket, and serves until the standard input ends.
func serve(dir string) error {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: dir, MaxPending: 1 << 32, WriteDeadline: time.Minute,
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true},
	})
	if err != nil {
		return err
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(20 * time.Second) {
		return errors.New("not ready after 20 s")
	}
	fmt.Println(s.Addr(), s.WebsocketURL()[len("ws://"):])
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
