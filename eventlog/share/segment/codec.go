package segment

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/cmemd/cmemd/events"
)

// EpochKey is the secret of one epoch of a space: it wraps the keys of segments.
type EpochKey [32]byte

const (
	keySize        = 32
	nonceSize      = 12
	tagSize        = 16
	wrappedKeySize = nonceSize + keySize + tagSize
)

// Codec seals and opens segments. It is safe for concurrent use; one serves a program.
type Codec struct {
	records *events.Codec
	zip     *zstd.Encoder
	unzip   *zstd.Decoder
}

// NewCodec returns a codec whose records are read by records. It holds about 2 MiB once it was used, and no goroutine.
func NewCodec(records *events.Codec) *Codec {
	c := &Codec{records: records}
	var errs [2]error
	c.zip, errs[0] = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	c.unzip, errs[1] = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxPlain), zstd.WithDecoderLowmem(true))
	if err := errors.Join(errs[:]...); err != nil {
		panic(err) // the options are constants
	}
	return c
}

// seal returns the segment of a header that is signed, and of records in their stored form. Each call takes a new key.
func (c *Codec) seal(h Header, plain []byte, epoch EpochKey) []byte {
	var key [keySize]byte
	rand.Read(key[:]) // never fails: without randomness it ends the program
	b := h.appendClear(make([]byte, 0, fixedHeaderSize+len(h.Reads)*readLen+tailSize+len(plain)+tagSize+1<<10))
	b = wrap(b, key, epoch)
	zipped := c.zip.EncodeAll(plain, nil)
	return gcm(key[:]).Seal(b, make([]byte, nonceSize), zipped, b) // a key that is used once may have any nonce
}

// open returns what seal was given of plain.
func (c *Codec) open(clear, body []byte, epoch EpochKey) ([]byte, error) {
	key, err := unwrap(clear, epoch)
	if err != nil {
		return nil, err
	}
	zipped, err := gcm(key).Open(nil, make([]byte, nonceSize), body, clear)
	if err != nil {
		return nil, fmt.Errorf("%w: the body is not what was sealed", ErrDamaged)
	}
	plain, err := c.unzip.DecodeAll(zipped, nil)
	if err != nil || len(plain) > MaxPlain {
		return nil, fmt.Errorf("%w: the body holds more than %d bytes, or is not compressed", ErrDamaged, MaxPlain)
	}
	return plain, nil
}

// wrap appends key, sealed by the epoch's with what stands in b.
func wrap(b []byte, key [keySize]byte, epoch EpochKey) []byte {
	var n [nonceSize]byte
	rand.Read(n[:])
	return epoch.wrapper().Seal(append(b, n[:]...), n[:], key[:], b)
}

// unwrap returns the key that wrap appended to the rest of clear.
func unwrap(clear []byte, epoch EpochKey) ([]byte, error) {
	rest, w := clear[:len(clear)-wrappedKeySize], clear[len(clear)-wrappedKeySize:]
	key, err := epoch.wrapper().Open(nil, w[:nonceSize], w[nonceSize:], rest)
	if err != nil {
		return nil, fmt.Errorf("%w: its key is not wrapped by the space's", ErrDamaged)
	}
	return key, nil
}

func (k EpochKey) wrapper() cipher.AEAD {
	key, err := hkdf.Expand(sha256.New, k[:], "cmemd segment key", keySize)
	if err != nil {
		panic(err) // the length is a constant
	}
	return gcm(key)
}

func gcm(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // all keys have keySize bytes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has blocks of 16 bytes
	}
	return aead
}
