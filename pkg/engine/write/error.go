package write

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Error is a write that was refused or did not arrive.
type Error struct {
	Request Request
	cause   error
}

// Error says what was refused and why, without the values that the API server
// repeats in its answer: it may repeat the whole object, and that may be a
// Secret.
func (e *Error) Error() string {
	text := e.Request.doing() + ": " + e.reason()
	if e.Request.Subresource != "" && apierrors.IsNotFound(e.cause) {
		text += fmt.Sprintf(" (or it has no subresource %q)", e.Request.Subresource)
	}
	return text
}

// Unwrap returns the error of the client.
func (e *Error) Unwrap() error { return e.cause }

// reason words the causes of a refusal for itself. Of a Secret not even the
// details are safe.
func (e *Error) reason() string {
	err := e.cause
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return err.Error()
	}
	status := answer.Status()
	if e.Request.Target.IsSecret() {
		return fmt.Sprintf("refused as %s (%d)", cmp.Or(status.Reason, "unknown"), status.Code)
	}
	if status.Reason != metav1.StatusReasonInvalid || status.Details == nil || len(status.Details.Causes) == 0 {
		return err.Error()
	}
	causes := make([]string, len(status.Details.Causes))
	for i, cause := range status.Details.Causes {
		causes[i] = withoutValue(cause.Message)
		if cause.Field != "" && cause.Field != "patch" {
			causes[i] = cause.Field + ": " + causes[i]
		}
	}
	return "refused: " + strings.Join(causes, "; ")
}

// valueLabels begin the messages of a field.Error that repeat a value.
var valueLabels = []string{"Invalid value: ", "Unsupported value: ", "Duplicate value: ", "Not found: "}

// withoutValue cuts the value out of "Invalid value: VALUE: detail" and its
// kin.
func withoutValue(message string) string {
	for _, label := range valueLabels {
		rest, found := strings.CutPrefix(message, label)
		if !found {
			continue
		}
		short := strings.ToLower(strings.TrimSuffix(label, ": "))
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			return short + rest[len(quoted):]
		}
		decoder := json.NewDecoder(strings.NewReader(rest))
		if decoder.Decode(new(any)) == nil {
			return short + rest[decoder.InputOffset():]
		}
		return short
	}
	return message
}
