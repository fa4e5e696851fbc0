package syntax_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// TestError makes sure that errors keep what they are about.
func TestError(t *testing.T) {
	cause := errors.New("the cause")
	err := syntax.Span{Offset: 2, Length: 3}.Errorf("wrong %d", 1).WithHint("do %s", "that").Because(cause)
	if err.Error() != "wrong 1; do that" || !errors.Is(err, cause) {
		t.Errorf("%v does not tell all", err)
	}
	moved, _ := errors.AsType[*syntax.Error](syntax.Shift(err, 5))
	if moved.Offset != 7 || moved.Length != 3 || err.Offset != 2 || moved.Message != err.Message {
		t.Errorf("moved to %+v", moved)
	}
	if other := syntax.Shift(cause, 5); !errors.Is(other, cause) {
		t.Errorf("%v is another error", other)
	}
	span := syntax.Span{Offset: 1, Length: 1}
	fault := value.Faultf("a fault").WithHint("a hint")
	located, _ := errors.AsType[*syntax.Error](span.Locate(fault))
	if located.Offset != 1 || located.Message != "a fault" || located.Hint != "a hint" || !errors.Is(located, error(fault)) {
		t.Errorf("located as %+v", located)
	}
	if again := span.Locate(err); !errors.Is(again, error(err)) || span.Locate(nil) != nil {
		t.Errorf("located anew as %v", again)
	}
	long := span.Errorf("%s", strings.Repeat("ä", 10_000))
	if len(long.Message) > 1000 {
		t.Errorf("a message of %d bytes", len(long.Message))
	}
}
