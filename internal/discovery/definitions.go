package discovery

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/client"
)

// The delays between attempts to watch CRDs. Whoever polls, too, needs no watch.
const (
	firstWatch = time.Second
	lastWatch  = 5 * time.Minute
)

// initial is how long after the start of a watch its events tell of what there was before.
const initial = time.Second

// FollowDefinitions calls changed when CRDs have come, changed or gone, until the context is done. What a CRD defines is served, and
// described, a moment later, so changed is called again then. If CRDs cannot be watched, it calls changed less often or never.
func FollowDefinitions(ctx context.Context, config *rest.Config, clock clock.Clock, changed func()) error {
	watching, err := client.For(client.WithoutRetries(config), metav1.SchemeGroupVersion)
	if err != nil {
		return fmt.Errorf("making a client to watch CRDs: %w", err)
	}
	events := make(chan struct{}, 1)
	go repeat(ctx, clock, events, changed)
	for delay := firstWatch; ctx.Err() == nil; delay = min(2*delay, lastWatch) {
		began := clock.Now()
		if streamed := stream(ctx, watching, func() {
			if clock.Since(began) < initial {
				return
			}
			select {
			case events <- struct{}{}:
			default:
			}
		}); streamed {
			delay = firstWatch
		}
		select {
		case <-clock.After(delay):
			changed() // Nothing told what happened meanwhile.
		case <-ctx.Done():
		}
	}
	return nil
}

// stream watches CRDs until the watch ends, and reports whether it began. It calls event for each event. Its content does not matter.
func stream(ctx context.Context, watching rest.Interface, event func()) (began bool) {
	body, err := watching.Get().AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").Param("watch", "true").
		SetHeader("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").Stream(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }() // It was only read.
	for lines := bufio.NewReader(io.Reader(body)); ; {
		switch _, err := lines.ReadSlice('\n'); {
		case err == nil:
			event()
		case !errors.Is(err, bufio.ErrBufferFull):
			return true
		}
	}
}

// repeat calls changed after an event, and a few times more.
func repeat(ctx context.Context, clock clock.Clock, events <-chan struct{}, changed func()) {
	var again <-chan time.Time
	delay := firstWatch
	for {
		select {
		case <-ctx.Done():
			return
		case <-events:
			delay = firstWatch
		case <-again:
			delay *= 2
		}
		changed()
		if again = nil; delay <= 4*firstWatch {
			again = clock.After(delay)
		}
	}
}
