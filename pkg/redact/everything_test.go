package redact

import (
	"errors"
	"testing"
)

// TestEverything holds that nothing is shown where it is not known what must not be, and
// that an error stays what it is.
func TestEverything(t *testing.T) {
	hidden, cause := Everything(nil), errors.New("it is canary, or not")
	if got := hidden.Text(cause.Error()); got != Plain("") {
		t.Errorf("it shows %q", got)
	}
	if err := hidden.Error(cause); err.Error() != Plain("") || !errors.Is(err, cause) {
		t.Errorf("the error is %v", err)
	}
	if hidden.Empty() {
		t.Error("it says that there is nothing to hide")
	}
}

// TestHidden holds that nobody is told that nothing is to be hidden where nobody has said what is.
func TestHidden(t *testing.T) {
	t.Parallel()
	values := Everything(Plain)
	if got := Hidden(Hiding(t.Context(), func() *Values { return values })); got != values {
		t.Errorf("want the values of the context, got %v", got)
	}
	if got := Hidden(t.Context()); got != nil {
		t.Errorf("want none, got %v", got)
	}
}
