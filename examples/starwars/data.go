package main

// Episode is one of the films. Fields of this type have the tag enum, so it is an enum in GraphQL.
type Episode string

// The episodes.
const (
	newHope Episode = "NEWHOPE"
	empire  Episode = "EMPIRE"
	jedi    Episode = "JEDI"
)

// all returns every episode.
func all() []Episode { return []Episode{newHope, empire, jedi} }

// Character is a character in the films.
type Character struct {
	ID        string    `json:"id" doc:"A short name."`
	Name      string    `json:"name" required:"true"`
	Height    float64   `json:"height" doc:"In metres."`
	AppearsIn []Episode `json:"appearsIn" enum:"NEWHOPE,EMPIRE,JEDI" doc:"The films of the character."`
	FriendIDs []string  `json:"friendIds" doc:"The ids of the friends."`
	// A pointer is null in JSON and nullable in GraphQL; other fields are never null.
	HomeWorldID *string `json:"homeWorldId" doc:"The id of a planet; null if unknown."`
	SpeciesID   string  `json:"speciesId"`
}

// Planet is a planet or moon.
type Planet struct {
	ID      string `json:"id" doc:"A short name."`
	Name    string `json:"name" required:"true"`
	Climate string `json:"climate"`
}

// Species is the species of a character.
type Species struct {
	ID   string `json:"id" doc:"A short name."`
	Name string `json:"name" required:"true"`
	// Bounds are checked on writes and are part of the OpenAPI document.
	Lifespan *int    `json:"lifespan" minimum:"1" maximum:"100000" doc:"In years; null if unknown."`
	OriginID *string `json:"originId" doc:"The id of a planet; null if unknown."`
}

// Film is one of the first three films. Its id is the episode.
type Film struct {
	ID       Episode `json:"id" doc:"The episode."`
	Title    string  `json:"title" required:"true"`
	Number   int     `json:"number" minimum:"1" maximum:"9" doc:"The number of the episode."`
	Released int     `json:"released" minimum:"1900" maximum:"2100" doc:"The year of release."`
	HeroID   string  `json:"heroId" doc:"The id of the main character."`
}

// Review is a review of a film. It is the only type that clients write, so its tags are checked: a
// missing episode or six stars are 422, or an error in GraphQL.
type Review struct {
	ID         int64   `json:"id" readOnly:"true"`
	Episode    Episode `json:"episode" required:"true" enum:"NEWHOPE,EMPIRE,JEDI"`
	Stars      int     `json:"stars" required:"true" minimum:"1" maximum:"5"`
	Commentary *string `json:"commentary" maxLength:"1000"`
}

// films, reviews, characters, planets and species return the data. The ids are short names, which
// clients can read in URLs; relations refer to them.
func films() []Film {
	return []Film{
		{newHope, "A New Hope", 4, 1977, "r2-d2"},
		{empire, "The Empire Strikes Back", 5, 1980, "luke"},
		{jedi, "Return of the Jedi", 6, 1983, "r2-d2"},
	}
}

func reviews() []Review {
	text := "Too many bears."
	return []Review{
		{1, newHope, 5, nil}, {2, newHope, 4, nil}, {3, empire, 5, nil}, {4, jedi, 3, &text},
	}
}

func characters() []Character {
	return []Character{
		{"ackbar", "Gial Ackbar", 1.80, []Episode{jedi}, []string{}, new("mon-cala"), "mon-calamari"},
		{"c-3po", "C-3PO", 1.67, all(), []string{"luke", "han", "leia", "r2-d2"}, new("tatooine"), "droid"},
		{"chewbacca", "Chewbacca", 2.28, all(), []string{"han", "luke", "leia"}, new("kashyyyk"), "wookiee"},
		{"greedo", "Greedo", 1.73, []Episode{newHope}, []string{}, new("rodia"), "rodian"},
		{"han", "Han Solo", 1.80, all(),
			[]string{"luke", "leia", "r2-d2", "chewbacca"}, new("corellia"), "human"},
		{"jabba", "Jabba Desilijic Tiure", 1.75, []Episode{jedi}, []string{}, new("nal-hutta"), "hutt"},
		{"lando", "Lando Calrissian", 1.77, []Episode{empire, jedi},
			[]string{"han", "chewbacca"}, new("socorro"), "human"},
		{"leia", "Leia Organa", 1.50, all(),
			[]string{"luke", "han", "c-3po", "r2-d2"}, new("alderaan"), "human"},
		{"luke", "Luke Skywalker", 1.72, all(),
			[]string{"han", "leia", "c-3po", "r2-d2"}, new("tatooine"), "human"},
		{"obi-wan", "Obi-Wan Kenobi", 1.82, all(), []string{"luke", "yoda"}, new("stewjon"), "human"},
		{"r2-d2", "R2-D2", 0.96, all(), []string{"luke", "han", "leia"}, new("naboo"), "droid"},
		{"tarkin", "Wilhuff Tarkin", 1.80, []Episode{newHope}, []string{"vader"}, new("eriadu"), "human"},
		{"vader", "Darth Vader", 2.02, all(), []string{"tarkin"}, new("tatooine"), "human"},
		{"wicket", "Wicket Systri Warrick", 0.88, []Episode{jedi}, []string{"leia"}, new("endor"), "ewok"},
		{"yoda", "Yoda", 0.66, []Episode{empire, jedi}, []string{"obi-wan", "luke"}, nil, "yodas"},
	}
}

func planets() []Planet {
	return []Planet{
		{"alderaan", "Alderaan", "temperate"},
		{"corellia", "Corellia", "temperate"},
		{"coruscant", "Coruscant", "temperate"},
		{"dagobah", "Dagobah", "murky"},
		{"endor", "Endor", "temperate"},
		{"eriadu", "Eriadu", "polluted"},
		{"hoth", "Hoth", "frozen"},
		{"kashyyyk", "Kashyyyk", "tropical"},
		{"mon-cala", "Mon Cala", "temperate"},
		{"naboo", "Naboo", "temperate"},
		{"nal-hutta", "Nal Hutta", "temperate"},
		{"rodia", "Rodia", "hot"},
		{"socorro", "Socorro", "arid"},
		{"stewjon", "Stewjon", "temperate"},
		{"tatooine", "Tatooine", "arid"},
	}
}

func species() []Species {
	return []Species{
		{"droid", "Droid", nil, nil},
		{"ewok", "Ewok", nil, new("endor")},
		{"human", "Human", new(120), new("coruscant")},
		{"hutt", "Hutt", new(1000), new("nal-hutta")},
		{"mon-calamari", "Mon Calamari", nil, new("mon-cala")},
		{"rodian", "Rodian", nil, new("rodia")},
		{"wookiee", "Wookiee", new(400), new("kashyyyk")},
		{"yodas", "Yoda's species", new(900), nil},
	}
}
