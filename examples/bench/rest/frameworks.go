package main

// The peers gin, echo and huma: the same routes, as their documentation shows them. They send the
// header fields of the handlers by hand. gin and huma validate by struct tags. echo has no
// validation of its own, so it calls the check by hand.

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/conditional"
	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/labstack/echo/v5"

	"github.com/stoa-go/stoa/resource"
)

// placeList is the body of a list.
type placeList struct {
	Items []place `json:"items"`
}

// placeInput is the body of a POST or PUT, with the constraints of place as the tags of gin and of huma.
type placeInput struct {
	Name       string  `json:"name" binding:"required,min=1,max=200" minLength:"1" maxLength:"200"`
	Country    string  `json:"country" binding:"required,len=2,alpha,uppercase" pattern:"^[A-Z]{2}$"`
	Kind       string  `json:"kind,omitempty"`
	Admin      string  `json:"admin,omitempty"`
	Population int64   `json:"population,omitempty" binding:"min=0" minimum:"0"`
	Lat        float64 `json:"lat,omitempty" binding:"min=-90,max=90" minimum:"-90" maximum:"90"`
	Lon        float64 `json:"lon,omitempty" binding:"min=-180,max=180" minimum:"-180" maximum:"180"`
}

func (in *placeInput) place() place {
	return place{Name: in.Name, Country: in.Country, Kind: in.Kind, Admin: in.Admin,
		Population: in.Population, Lat: in.Lat, Lon: in.Lon}
}

// placeWithID is place for a PUT.
func (in *placeInput) placeWithID(id int64) place {
	p := in.place()
	p.ID = id
	return p
}

// placePatch is the body of a PATCH. An absent member is nil. No member is nullable.
type placePatch struct {
	Name    *string `json:"name,omitempty" binding:"omitnil,min=1,max=200" minLength:"1" maxLength:"200"`
	Country *string `json:"country,omitempty" binding:"omitnil,len=2,alpha,uppercase" pattern:"^[A-Z]{2}$"`

	Kind       *string  `json:"kind,omitempty"`
	Admin      *string  `json:"admin,omitempty"`
	Population *int64   `json:"population,omitempty" binding:"omitnil,min=0" minimum:"0"`
	Lat        *float64 `json:"lat,omitempty" binding:"omitnil,min=-90,max=90" minimum:"-90" maximum:"90"`
	Lon        *float64 `json:"lon,omitempty" binding:"omitnil,min=-180,max=180" minimum:"-180" maximum:"180"`
}

// apply returns p with the members of the patch.
func (in *placePatch) apply(p place) place {
	set(&p.Name, in.Name)
	set(&p.Country, in.Country)
	set(&p.Kind, in.Kind)
	set(&p.Admin, in.Admin)
	set(&p.Population, in.Population)
	set(&p.Lat, in.Lat)
	set(&p.Lon, in.Lon)
	return p
}

// set sets a field to a member that is present.
func set[T any](field, member *T) {
	if member != nil {
		*field = *member
	}
}

// patchPlace applies a patch, and again after a concurrent write.
func patchPlace(places *mapStore, id int64, in *placePatch, check func(*place) error) (*row, error) {
	for {
		found, ok := places.find(id)
		if !ok {
			return nil, resource.ErrNotFound
		}
		changed := in.apply(found.place)
		if err := check(&changed); err != nil {
			return nil, err
		}
		stored, err := places.swap(changed, found.rev)
		if !errors.Is(err, resource.ErrStale) {
			return stored, err
		}
	}
}

// unchecked is for frameworks that have validated the members of the patch before.
func unchecked(*place) error { return nil }

// setFields sets the fields of a response. etag is empty for a list.
func setFields(h http.Header, etag string) {
	if etag != "" {
		h.Set("ETag", etag)
	}
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Accept")
}

func newGin(places *mapStore) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	binding.EnableDecoderDisallowUnknownFields = true
	g := gin.New()
	g.GET("/places/:id", func(c *gin.Context) {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		found, ok := places.find(id)
		if err != nil || !ok {
			c.Status(http.StatusNotFound)
			return
		}
		setFields(c.Writer.Header(), found.etag)
		if c.GetHeader("If-None-Match") == found.etag {
			c.Status(http.StatusNotModified)
			return
		}
		c.JSON(http.StatusOK, &found.place)
	})
	g.GET("/places", func(c *gin.Context) {
		limit, err := strconv.Atoi(c.DefaultQuery("limit", "50"))
		if err != nil || limit < 1 || limit > 200 {
			c.Status(http.StatusBadRequest)
			return
		}
		setFields(c.Writer.Header(), "")
		c.JSON(http.StatusOK, placeList{places.first(limit)})
	})
	g.POST("/places", func(c *gin.Context) {
		var in placeInput
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 1<<20)
		if err := c.ShouldBindJSON(&in); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		stored := places.add(in.place())
		setFields(c.Writer.Header(), stored.etag)
		c.Header("Location", location(stored))
		c.JSON(http.StatusCreated, &stored.place)
	})
	g.PATCH("/places/:id", func(c *gin.Context) {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		if err != nil {
			c.Status(http.StatusNotFound)
			return
		}
		var in placePatch
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 1<<20)
		if err := c.ShouldBindJSON(&in); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		stored, err := patchPlace(places, id, &in, unchecked)
		if err != nil {
			c.Status(http.StatusNotFound)
			return
		}
		setFields(c.Writer.Header(), stored.etag)
		c.JSON(http.StatusOK, &stored.place)
	})
	g.PUT("/places/:id", func(c *gin.Context) { ginPut(c, places) })
	return g
}

// ginPut answers PUT of an item.
func ginPut(c *gin.Context, places *mapStore) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		c.Status(http.StatusNotFound)
		return
	}
	var in placeInput
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 1<<20)
	if err := c.ShouldBindJSON(&in); err != nil {
		c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
		return
	}
	stored, err := places.replace(in.placeWithID(id))
	if err != nil {
		c.Status(http.StatusNotFound)
		return
	}
	setFields(c.Writer.Header(), "")
	c.JSON(http.StatusOK, &stored.place)
}

func newEcho(places *mapStore) http.Handler {
	e := echo.New()
	e.GET("/places/:id", func(c *echo.Context) error {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		found, ok := places.find(id)
		if err != nil || !ok {
			return echo.ErrNotFound
		}
		setFields(c.Response().Header(), found.etag)
		if c.Request().Header.Get("If-None-Match") == found.etag {
			return c.NoContent(http.StatusNotModified)
		}
		return c.JSON(http.StatusOK, &found.place)
	})
	e.GET("/places", func(c *echo.Context) error {
		limit, err := strconv.Atoi(c.QueryParamOr("limit", "50"))
		if err != nil || limit < 1 || limit > 200 {
			return echo.ErrBadRequest
		}
		setFields(c.Response().Header(), "")
		return c.JSON(http.StatusOK, placeList{places.first(limit)})
	})
	e.POST("/places", func(c *echo.Context) error {
		var in placeInput
		c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, 1<<20)
		if err := c.Bind(&in); err != nil {
			return err
		}
		p := in.place()
		if err := checkPlace(&p); err != nil {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, err.Error())
		}
		stored := places.add(p)
		setFields(c.Response().Header(), stored.etag)
		c.Response().Header().Set("Location", location(stored))
		return c.JSON(http.StatusCreated, &stored.place)
	})
	e.PATCH("/places/:id", func(c *echo.Context) error {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		if err != nil {
			return echo.ErrNotFound
		}
		var in placePatch
		// Bind accepts no merge patch: it knows application/json only.
		body := http.MaxBytesReader(c.Response(), c.Request().Body, 1<<20)
		if err := json.NewDecoder(body).Decode(&in); err != nil {
			return echo.ErrBadRequest
		}
		stored, err := patchPlace(places, id, &in, checkPlace)
		if err != nil {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, err.Error())
		}
		setFields(c.Response().Header(), stored.etag)
		return c.JSON(http.StatusOK, &stored.place)
	})
	e.PUT("/places/:id", func(c *echo.Context) error {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		if err != nil {
			return echo.ErrNotFound
		}
		var in placeInput
		c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, 1<<20)
		if err := c.Bind(&in); err != nil {
			return err
		}
		p := in.placeWithID(id)
		if err := checkPlace(&p); err != nil {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, err.Error())
		}
		stored, err := places.replace(p)
		if err != nil {
			return echo.ErrNotFound
		}
		setFields(c.Response().Header(), "")
		return c.JSON(http.StatusOK, &stored.place)
	})
	return e
}

// humaOutput is a response of huma.
type humaOutput[T any] struct {
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Vary         string `header:"Vary"`
	Location     string `header:"Location"`
	Body         T
}

// humaPlace returns the response with a place.
func humaPlace(found *row, location string) *humaOutput[*place] {
	return &humaOutput[*place]{found.etag, "private, no-cache", "Accept", location, &found.place}
}

func newHuma(places *mapStore) http.Handler {
	mux := http.NewServeMux()
	config := huma.DefaultConfig("places", "1.0.0")
	config.CreateHooks = nil // no $schema member and no Link
	api := humago.New(mux, config)
	huma.Get(api, "/places/{id}", func(_ context.Context, in *struct {
		conditional.Params
		ID int64 `path:"id"`
	}) (*humaOutput[*place], error) {
		found, ok := places.find(in.ID)
		if !ok {
			return nil, huma.Error404NotFound("no such place")
		}
		if in.HasConditionalParams() {
			// huma compares the tag without its quotes.
			if err := in.PreconditionFailed(string(found.rev), time.Time{}); err != nil {
				h := http.Header{}
				setFields(h, found.etag)
				return nil, huma.ErrorWithHeaders(err, h)
			}
		}
		return humaPlace(found, ""), nil
	})
	huma.Get(api, "/places", func(_ context.Context, in *struct {
		Limit int `query:"limit" minimum:"1" maximum:"200" default:"50"`
	}) (*humaOutput[placeList], error) {
		page := placeList{places.first(in.Limit)}
		return &humaOutput[placeList]{"", "private, no-cache", "Accept", "", page}, nil
	})
	huma.Register(api, huma.Operation{Method: "POST", Path: "/places", DefaultStatus: http.StatusCreated},
		func(_ context.Context, in *struct{ Body placeInput }) (*humaOutput[*place], error) {
			stored := places.add(in.Body.place())
			return humaPlace(stored, location(stored)), nil
		})
	huma.Patch(api, "/places/{id}", func(_ context.Context, in *struct {
		ID   int64 `path:"id"`
		Body placePatch
	}) (*humaOutput[*place], error) {
		stored, err := patchPlace(places, in.ID, &in.Body, unchecked)
		if err != nil {
			return nil, huma.Error404NotFound("no such place")
		}
		return humaPlace(stored, ""), nil
	})
	huma.Put(api, "/places/{id}", func(_ context.Context, in *struct {
		ID   int64 `path:"id"`
		Body placeInput
	}) (*humaOutput[*place], error) {
		stored, err := places.replace(in.Body.placeWithID(in.ID))
		if err != nil {
			return nil, huma.Error404NotFound("no such place")
		}
		out := humaPlace(stored, "")
		out.ETag = ""
		return out, nil
	})
	return mux
}
