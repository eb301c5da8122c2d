//! What restaurants cook: dishes, prices in kuruş, and the choices that go with them.

pub(super) struct Kitchen {
    pub name: &'static str,
    pub categories: &'static [(&'static str, &'static [Dish])],
}

pub(super) struct Dish {
    pub name: &'static str,
    pub description: &'static str,
    pub price: i64,
    pub groups: &'static [&'static Group],
}

pub(super) struct Group {
    pub name: &'static str,
    pub min: usize,
    pub max: usize,
    /// The choices are things to leave out.
    pub removes: bool,
    pub choices: &'static [Choice],
}

pub(super) struct Choice {
    pub name: &'static str,
    pub price: i64,
    pub groups: &'static [&'static Group],
}

const fn dish(
    name: &'static str,
    description: &'static str,
    price: i64,
    groups: &'static [&'static Group],
) -> Dish {
    Dish {
        name,
        description,
        price,
        groups,
    }
}

const fn choice(name: &'static str, price: i64) -> Choice {
    Choice {
        name,
        price,
        groups: &[],
    }
}

const fn group(name: &'static str, min: usize, max: usize, choices: &'static [Choice]) -> Group {
    Group {
        name,
        min,
        max,
        removes: false,
        choices,
    }
}

static BITTERNESS: Group = group(
    "Acı Tercihi",
    1,
    1,
    &[choice("Acılı", 0), choice("Az Acılı", 0), choice("Acısız", 0)],
);
static WITHOUT: Group = Group {
    removes: true,
    ..group(
        "Çıkarılacaklar",
        0,
        2,
        &[
            choice("Soğan", 0),
            choice("Domates", 0),
            choice("Maydanoz", 0),
            choice("Turşu", 0),
        ],
    )
};
static PORTION: Group = group(
    "Porsiyon",
    1,
    1,
    &[choice("1 Porsiyon", 0), choice("1,5 Porsiyon", 14_000)],
);
static BREAD: Group = group(
    "Ekmek Seçimi",
    1,
    1,
    &[
        choice("Lavaş", 0),
        choice("Tombik Ekmek", 1_500),
        choice("Tırnak Pide", 0),
    ],
);
static DRINK: Group = group(
    "İçecek Seçimi",
    1,
    1,
    &[
        choice("Ayran (30 cl)", 0),
        choice("Şalgam (Acılı)", 500),
        choice("Kola (33 cl)", 1_990),
        choice("Su (50 cl)", 0),
    ],
);
static EXTRA_KEBAP: Group = group(
    "Ekstralar",
    0,
    2,
    &[
        choice("Közlenmiş Biber", 1_500),
        choice("Ezme", 3_500),
        choice("Cacık", 4_990),
    ],
);
static DIP_SIZE: Group = group(
    "Sos Boyu",
    1,
    1,
    &[choice("Tek Kap", 0), choice("Çift Kap", 1_250)],
);
static DIPS: Group = group(
    "Sos Seçimi",
    1,
    2,
    &[
        Choice {
            name: "Sarımsaklı Mayonez",
            price: 990,
            groups: &[&DIP_SIZE],
        },
        Choice {
            name: "Barbekü Sos",
            price: 990,
            groups: &[&DIP_SIZE],
        },
        choice("Ketçap", 0),
    ],
);
static FRIES_SIZE: Group = group(
    "Patates Boyu",
    1,
    1,
    &[
        Choice {
            name: "Orta Boy",
            price: 0,
            groups: &[&DIPS],
        },
        Choice {
            name: "Büyük Boy",
            price: 2_500,
            groups: &[&DIPS],
        },
    ],
);
static SIDE: Group = group(
    "Yan Ürün",
    1,
    1,
    &[
        Choice {
            name: "Patates Kızartması",
            price: 0,
            groups: &[&FRIES_SIZE],
        },
        Choice {
            name: "Soğan Halkası (8'li)",
            price: 1_990,
            groups: &[&DIPS],
        },
    ],
);
static MENU: Group = group(
    "Menü Seçimi",
    1,
    1,
    &[
        Choice {
            name: "Menü Yap",
            price: 8_990,
            groups: &[&SIDE, &DRINK],
        },
        choice("Sadece Burger", 0),
    ],
);
static DONENESS: Group = group(
    "Pişme Derecesi",
    1,
    1,
    &[choice("Orta", 0), choice("Az Pişmiş", 0), choice("Çok Pişmiş", 0)],
);
static CHEESE: Group = group(
    "Ekstra Malzeme",
    0,
    2,
    &[
        choice("Cheddar", 2_490),
        choice("Dana Füme", 4_490),
        choice("Jalapeno", 1_490),
    ],
);
static PIZZA_SIZE: Group = group(
    "Boy",
    1,
    1,
    &[choice("Küçük", 0), choice("Orta", 7_000), choice("Büyük", 13_500)],
);
static CRUST: Group = group(
    "Hamur",
    1,
    1,
    &[
        choice("Klasik", 0),
        choice("İnce", 0),
        choice("Kenarı Peynirli", 4_995),
    ],
);
static SYRUP: Group = group(
    "Yanında",
    0,
    1,
    &[choice("Kaymak", 4_500), choice("Maraş Dondurma (1 Top)", 5_500)],
);

static DRINKS: [Dish; 4] = [
    dish("Ayran (30 cl)", "Yayık ayranı", 3_500, &[]),
    dish("Kola (33 cl)", "Kutu", 6_000, &[]),
    dish("Şalgam (30 cl)", "Adana usulü", 4_500, &[&BITTERNESS]),
    dish("Su (50 cl)", "", 1_500, &[]),
];

static SWEETS: [Dish; 3] = [
    dish("Künefe", "Hatay peyniriyle, sıcak servis", 18_500, &[&SYRUP]),
    dish("Fıstıklı Baklava (4 Dilim)", "Antep fıstığı", 22_000, &[&SYRUP]),
    dish("Fırın Sütlaç", "", 11_990, &[]),
];

pub(super) static KITCHENS: &[Kitchen] = &[
    Kitchen {
        name: "Ocakbaşı Adana Sofrası",
        categories: &[
            (
                "Kebaplar",
                &[
                    dish(
                        "Adana Kebap",
                        "Zırhta çekilmiş kuzu kıyma, lavaş, salata",
                        38_000,
                        &[&PORTION, &WITHOUT, &EXTRA_KEBAP],
                    ),
                    dish(
                        "Urfa Kebap",
                        "Acısız, közlenmiş biber ve domatesle",
                        38_000,
                        &[&PORTION, &WITHOUT],
                    ),
                    dish(
                        "Tavuk Şiş",
                        "Marine tavuk göğsü, pilav",
                        29_990,
                        &[&PORTION, &EXTRA_KEBAP],
                    ),
                    dish(
                        "Beyti Sarma",
                        "Yoğurt ve tereyağlı domates sosu",
                        44_500,
                        &[&BITTERNESS],
                    ),
                ],
            ),
            (
                "Dürümler",
                &[
                    dish("Adana Dürüm", "", 26_000, &[&BREAD, &BITTERNESS, &WITHOUT]),
                    dish("Tavuk Dürüm", "", 19_990, &[&BREAD, &WITHOUT]),
                ],
            ),
            ("Tatlılar", &SWEETS),
            ("İçecekler", &DRINKS),
        ],
    },
    Kitchen {
        name: "Karadeniz Pide & Lahmacun",
        categories: &[
            (
                "Pideler",
                &[
                    dish("Kıymalı Pide", "Taş fırında", 24_500, &[&BITTERNESS]),
                    dish("Kuşbaşılı Kaşarlı Pide", "", 31_000, &[&BITTERNESS, &CHEESE]),
                    dish("Trabzon Peynirli Pide", "Tereyağlı, yumurtalı", 26_750, &[]),
                ],
            ),
            (
                "Lahmacunlar",
                &[
                    dish(
                        "Lahmacun",
                        "İnce hamur, yeşillik ve limonla",
                        9_500,
                        &[&BITTERNESS, &WITHOUT],
                    ),
                    dish("Fındık Lahmacun (5'li)", "", 21_500, &[&BITTERNESS]),
                ],
            ),
            ("Tatlılar", &SWEETS),
            ("İçecekler", &DRINKS),
        ],
    },
    Kitchen {
        name: "Sokak Burger",
        categories: &[
            (
                "Burgerler",
                &[
                    dish(
                        "Klasik Burger",
                        "120 gr dana köfte, turşu, özel sos",
                        27_900,
                        &[&MENU, &DONENESS, &WITHOUT, &CHEESE],
                    ),
                    dish(
                        "Çift Katlı Cheeseburger",
                        "2 x 120 gr, çift cheddar",
                        38_900,
                        &[&MENU, &DONENESS, &WITHOUT],
                    ),
                    dish("Çıtır Tavuk Burger", "", 23_900, &[&MENU, &WITHOUT]),
                ],
            ),
            (
                "Atıştırmalıklar",
                &[
                    dish("Patates Kızartması", "", 9_990, &[&FRIES_SIZE]),
                    dish("Soğan Halkası (8'li)", "", 10_990, &[&DIPS]),
                ],
            ),
            ("İçecekler", &DRINKS),
        ],
    },
    Kitchen {
        name: "Pizza Galata",
        categories: &[
            (
                "Pizzalar",
                &[
                    dish(
                        "Karışık Pizza",
                        "Sucuk, sosis, mantar, mısır, zeytin",
                        26_900,
                        &[&PIZZA_SIZE, &CRUST, &CHEESE],
                    ),
                    dish("Sucuklu Pizza", "", 24_900, &[&PIZZA_SIZE, &CRUST]),
                    dish(
                        "Margarita",
                        "Mozzarella, fesleğen",
                        21_900,
                        &[&PIZZA_SIZE, &CRUST],
                    ),
                ],
            ),
            (
                "Yan Lezzetler",
                &[
                    dish("Sarımsaklı Ekmek", "", 8_950, &[]),
                    dish("Patates Kızartması", "", 9_990, &[&FRIES_SIZE]),
                ],
            ),
            ("İçecekler", &DRINKS),
        ],
    },
    Kitchen {
        name: "Çiğköfteci Memet Usta",
        categories: &[
            (
                "Çiğ Köfte",
                &[
                    dish(
                        "Çiğ Köfte Dürüm",
                        "Nar ekşisi, marul, limon",
                        8_500,
                        &[&BITTERNESS, &WITHOUT],
                    ),
                    dish("Mega Dürüm", "", 11_500, &[&BITTERNESS, &WITHOUT]),
                    dish(
                        "Çiğ Köfte (500 gr)",
                        "Yanında lavaş, marul, sos",
                        27_500,
                        &[&BITTERNESS],
                    ),
                ],
            ),
            ("Tatlılar", &SWEETS),
            ("İçecekler", &DRINKS),
        ],
    },
];
