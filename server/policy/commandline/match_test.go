package commandline

import (
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		l := Read("cd server && go test -run 'TestX|TestY' ./... 2>&1 | tail -20", "/w")
		if l.Runs("rm", nil) != No || l.Runs("git", strings.Fields("push")) != No {
			b.Fatal("it runs neither")
		}
	}
}
