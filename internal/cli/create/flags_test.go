package create

import (
	"testing"

	"agentctl/internal/dev/verbtest"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	verbtest.CheckOptions(t, &newVerb, "--name n --agent a --cwd /x --env K=V --env L=M --prompt p", newOptions{
		SessionFlags: SessionFlags{Agent: "a", CWD: "/x", Env: []string{"K=V", "L=M"}}, Name: "n", Prompt: "p",
	})
	verbtest.CheckOptions(t, &newVerb, "--mode m --model n --option K=V --option L=M --lazy --no-check", newOptions{
		SessionFlags: SessionFlags{Settings: settingFlags{Mode: "m", Model: "n", Options: []string{"K=V", "L=M"}}},
		Lazy:         true, NoCheck: true,
	})
	verbtest.CheckOptions(t, &newVerb, "--key k", newOptions{Key: "k"})
	verbtest.CheckOptions(t, &newVerb, "--id k", newOptions{Key: "k"})
	verbtest.CheckOptions(t, &newVerb, "--label a=1 --label b=2", newOptions{Labels: []string{"a=1", "b=2"}})
}
