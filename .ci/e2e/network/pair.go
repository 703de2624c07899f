package network

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// pair is a connection, and the one that it leads to.
type pair struct {
	wire *Wire
	near net.Conn
	far  net.Conn
	life context.Context // it lives as long as the connections
	end  context.CancelFunc

	forgotten, cut bool // guarded by wire.mu
}

// run passes on what both ends send, until neither has more to send, or one of them is broken.
func (p *pair) run() {
	defer p.wire.remove(p)
	defer p.end()
	defer p.near.Close()
	if _, ok := p.passable(); !ok { // in a hole nobody gets as far as the other end
		return
	}
	var err error
	if p.far, err = p.wire.dial(p.life); err != nil {
		return
	}
	defer p.far.Close()
	defer context.AfterFunc(p.life, func() { p.near.Close(); p.far.Close() })()
	var works sync.WaitGroup
	there, back := make(chan parcel, onTheWay), make(chan parcel, onTheWay)
	works.Go(func() { p.collect(p.near, there) })
	works.Go(func() { p.deliver(there, p.far) })
	works.Go(func() { p.collect(p.far, back) })
	works.Go(func() { p.deliver(back, p.near) })
	works.Wait()
}

// passable waits until something can pass, and returns the weather then. It is false if nothing ever will.
func (p *pair) passable() (Weather, bool) {
	for {
		p.wire.mu.Lock()
		weather, forgotten, changed := p.wire.weather, p.forgotten, p.wire.changed
		p.wire.mu.Unlock()
		if !weather.Hole && !forgotten {
			return weather, p.life.Err() == nil
		}
		select {
		case <-changed:
		case <-p.life.Done():
			return weather, false
		}
	}
}

// parcel is what was read at once, or how it ended.
type parcel struct {
	data []byte
	err  error
	due  time.Time
}

// onTheWay is how many parcels are at most: who sends more has to wait, as for a window of TCP. parcelSize is the largest.
const (
	onTheWay   = 64
	parcelSize = 4 << 10
)

// collect reads what one end sends.
func (p *pair) collect(from net.Conn, way chan<- parcel) {
	buffer := make([]byte, parcelSize)
	for {
		n, err := from.Read(buffer)
		next := parcel{append([]byte(nil), buffer[:n]...), err, time.Now().Add(p.wire.late())}
		select {
		case way <- next:
		case <-p.life.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// deliver writes what comes to the other end. If one end has no more to send it leaves the other direction open.
func (p *pair) deliver(way <-chan parcel, to net.Conn) {
	budget := -1
	for {
		var next parcel
		select {
		case next = <-way:
		case <-p.life.Done():
			return
		}
		weather, ok := p.await(next)
		if !ok {
			return
		}
		if weather.Cut > 0 && budget < 0 {
			budget = p.wire.draw(weather.Cut)
		}
		if cut := weather.Cut > 0 && len(next.data) > budget; cut {
			to.Write(next.data[:budget])
			p.reset()
			return
		}
		budget -= len(next.data)
		_, err := to.Write(next.data)
		switch {
		case err != nil, next.err != nil && !errors.Is(next.err, io.EOF):
			p.end()
			return
		case next.err != nil:
			if half, ok := to.(interface{ CloseWrite() error }); ok {
				half.CloseWrite()
			}
			return
		}
	}
}

// await waits until a parcel is due and nothing is in its way.
func (p *pair) await(next parcel) (Weather, bool) {
	if !p.wire.sleep(p.life, time.Until(next.due)) {
		return Weather{}, false
	}
	weather, ok := p.passable()
	if ok && weather.Rate > 0 {
		ok = p.wire.sleep(p.life, time.Duration(len(next.data))*time.Second/time.Duration(weather.Rate))
	}
	return weather, ok
}

// reset ends the pair without a goodbye.
func (p *pair) reset() {
	for _, conn := range []net.Conn{p.near, p.far} {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	}
	p.wire.mu.Lock()
	if !p.cut { // both directions may come to that
		p.cut = true
		p.wire.cuts++
	}
	p.wire.mu.Unlock()
	p.end()
}
