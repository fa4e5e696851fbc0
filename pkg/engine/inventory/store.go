package inventory

import (
	"context"
	"sync"
)

// Store keeps a book. It is safe for concurrent use, by several processes too.
type Store interface {
	// Load returns the book, an empty one where nothing was ever stored.
	Load(ctx context.Context) (Book, error)
	// Update stores what change makes of the book, and returns that. Change may be
	// called several times, each time with the newest book, and must do nothing
	// else. Where it changes nothing, nothing is written. With a [PartialError] the book
	// is what is stored now.
	Update(ctx context.Context, change func(Book) Book) (Book, error)
}

// Memory is a store that ends with the process. The zero value is empty.
type Memory struct {
	mu   sync.Mutex
	book Book // guarded by mu
}

// Load implements [Store].
func (m *Memory) Load(context.Context) (Book, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.book, nil
}

// Update implements [Store].
func (m *Memory) Update(_ context.Context, change func(Book) Book) (Book, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.book = change(m.book)
	return m.book, nil
}
