package rescue_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"agentctl/internal/rescue"
)

func explode(what any) { panic(what) }

func TestAPanicBecomesAnErrorWithItsTrace(t *testing.T) {
	err := rescue.Do(func() { explode("boom") })
	e := rescue.Of(fmt.Errorf("read: %w", err))
	if e == nil || e.Value != "boom" || err.Error() != "panic: boom" {
		t.Fatalf("caught %v", err)
	}
	if !strings.Contains(string(e.Stack), "rescue_test.explode") {
		t.Errorf("the trace does not say where:\n%s", e.Stack)
	}
}

func TestAnErrorThatPanicsIsStillItself(t *testing.T) {
	if err := rescue.Do(func() { explode(io.EOF) }); !errors.Is(err, io.EOF) {
		t.Errorf("caught %v", err)
	}
}

func TestAPanicHandedOnKeepsItsTrace(t *testing.T) {
	first := rescue.Do(func() { explode("boom") })
	again := rescue.Do(func() { panic(fmt.Errorf("follow: %w", first)) })
	if rescue.Of(again) != rescue.Of(first) {
		t.Errorf("caught %v, then %v", first, again)
	}
}

func TestWithoutAPanicThereIsNoError(t *testing.T) {
	if err := rescue.Do(func() {}); err != nil || rescue.Of(err) != nil || rescue.Of(io.EOF) != nil {
		t.Errorf("caught %v", err)
	}
}
