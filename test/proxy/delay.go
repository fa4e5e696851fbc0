package proxy

import (
	"context"
	"io"
	"time"
)

// backlog is how many parts of an answer wait at most; the API server waits with what is more.
const backlog = 1 << 12

// part is what came of an answer at once.
type part struct {
	data []byte
	err  error // the end
	due  time.Time
}

// delayed passes on what it reads a fixed time after it came. Events are not told apart: their parts stay together.
type delayed struct {
	ctx    context.Context //nolint:containedctx // io.Reader takes none, and this one lives as long as the request
	source io.ReadCloser
	parts  chan part
	part   part // that is being read
	closed chan struct{}
}

// delay begins to read at once. The result must be closed.
func delay(ctx context.Context, source io.ReadCloser, by time.Duration) io.ReadCloser {
	d := &delayed{ctx: ctx, source: source, parts: make(chan part, backlog), closed: make(chan struct{})}
	go d.collect(by)
	return d
}

func (d *delayed) collect(by time.Duration) {
	defer close(d.parts)
	for {
		data := make([]byte, 4096)
		n, err := d.source.Read(data)
		select {
		case d.parts <- part{data[:n], err, time.Now().Add(by)}:
		case <-d.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// Read implements [io.Reader].
func (d *delayed) Read(to []byte) (int, error) {
	for len(d.part.data) == 0 && d.part.err == nil {
		if err := d.next(); err != nil {
			return 0, err
		}
	}
	n := copy(to, d.part.data)
	d.part.data = d.part.data[n:]
	if len(d.part.data) > 0 {
		return n, nil
	}
	return n, d.part.err
}

// next waits for a part and for its time.
func (d *delayed) next() error {
	var open bool
	select {
	case d.part, open = <-d.parts:
	case <-d.ctx.Done():
		return context.Cause(d.ctx)
	}
	if !open {
		return io.ErrClosedPipe
	}
	timer := time.NewTimer(time.Until(d.part.due))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-d.ctx.Done():
		return context.Cause(d.ctx)
	}
}

// Close implements [io.Closer]. It is called once, by whoever reads.
func (d *delayed) Close() error {
	close(d.closed)
	return d.source.Close()
}
