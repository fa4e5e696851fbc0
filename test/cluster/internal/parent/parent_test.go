package parent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// roleVariable makes this test binary a parent or a child of the family that the tests below need.
const roleVariable = "PARENT_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "parent":
		runParent()
	case "child":
		p := Find()
		fmt.Println("watching")
		p.Wait(context.Background())
	default:
		m.Run()
	}
}

// runParent starts a child, which shares its stdout, and waits to be killed.
func runParent() {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), roleVariable+"=child")
	if os.Getenv("PARENT_TEST_TELL") != "" {
		child.Env = append(child.Env, Environment())
	}
	child.Stdout = os.Stdout
	if err := child.Run(); err != nil {
		fmt.Println(err)
	}
}

func TestWaitEndsWithTheParent(t *testing.T) {
	tests := map[string]struct {
		reason string
		env    string
	}{
		"told":   {"A parent of ours names its pid.", "PARENT_TEST_TELL=1"},
		"untold": {"A shell does not, so the parent at the start counts.", Variable + "="},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			family := exec.Command(os.Args[0])
			family.Env = append(os.Environ(), roleVariable+"=parent", tc.env)
			stdout, err := family.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := family.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(stdout)
			if line, err := lines.ReadString('\n'); line != "watching\n" {
				t.Fatalf("the child said %q, %v", line, err)
			}
			if err := family.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			// The child holds the other end of the pipe until it has ended too; a child that stays makes the test time out.
			if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
				t.Errorf("%s\nafter the kill: %q, %v", tc.reason, rest, err)
			}
			_ = family.Wait()
		})
	}
}

func TestWaitNoticesAParentThatEndedBefore(t *testing.T) {
	t.Setenv(Variable, strconv.Itoa(os.Getpid())) // We are not our own parent, as if ours had been replaced already.
	Find().Wait(t.Context())
	if t.Context().Err() != nil {
		t.Error("Wait returned for its context, not for the parent")
	}
}

func TestWaitObeysItsContext(t *testing.T) {
	t.Setenv(Variable, "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	Find().Wait(ctx)
	if ctx.Err() == nil {
		t.Error("Wait returned while the parent lives and the context stands")
	}
}
