//! Customers, couriers and where they live.

use crate::random::Random;

#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub first_name: &'static str,
    pub last_name: &'static str,
    /// The platforms' call centre, and the extension that leads to the customer.
    pub phone_extension: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub city: &'static str,
    pub city_code: u16,
    pub district: &'static str,
    pub neighbourhood: &'static str,
    pub street: &'static str,
    pub building: i64,
    pub floor: i64,
    pub door: i64,
    pub directions: &'static str,
    /// Millionths of a degree, so that nothing is lost on the way.
    pub latitude: i64,
    pub longitude: i64,
}

const FIRST: &[&str] = &[
    "Ayşe", "Çağla", "Gülşah", "İrem", "Şule", "Özge", "Ümran", "Zeynep", "Ahmet", "Barış", "Çetin",
    "Doğukan", "Emre", "İlker", "Oğuz", "Ömer", "Şafak", "Tuğrul", "Uğur", "Yiğit",
];
const LAST: &[&str] = &[
    "Yılmaz", "Kaya", "Demir", "Şahin", "Çelik", "Yıldız", "Öztürk", "Aydın", "Özdemir", "Arslan", "Doğan",
    "Kılıç", "Çetin", "Koç", "Güneş", "Işık", "Ünal", "Şimşek",
];

/// City, its number plate, district, neighbourhood, and about where it is.
type Place = (&'static str, u16, &'static str, &'static str, i64, i64);

const PLACES: &[Place] = &[
    ("İstanbul", 34, "Kadıköy", "Caferağa Mah.", 40_987_000, 29_026_000),
    (
        "İstanbul",
        34,
        "Beşiktaş",
        "Sinanpaşa Mah.",
        41_042_000,
        29_008_000,
    ),
    (
        "İstanbul",
        34,
        "Üsküdar",
        "Mimar Sinan Mah.",
        41_025_000,
        29_017_000,
    ),
    ("İstanbul", 34, "Şişli", "Meşrutiyet Mah.", 41_051_000, 28_990_000),
    ("Ankara", 6, "Çankaya", "Kızılay Mah.", 39_920_000, 32_854_000),
    (
        "Ankara",
        6,
        "Yenimahalle",
        "Batıkent Mah.",
        39_968_000,
        32_730_000,
    ),
    ("İzmir", 35, "Karşıyaka", "Bostanlı Mah.", 38_457_000, 27_098_000),
    ("İzmir", 35, "Bornova", "Kazımdirik Mah.", 38_462_000, 27_217_000),
    ("Bursa", 16, "Nilüfer", "İhsaniye Mah.", 40_211_000, 28_975_000),
    (
        "Antalya",
        7,
        "Muratpaşa",
        "Şirinyalı Mah.",
        36_859_000,
        30_744_000,
    ),
];
const STREETS: &[&str] = &[
    "Moda Cad.",
    "Çiçek Sok.",
    "Atatürk Bulvarı",
    "Şair Nedim Cad.",
    "Gül Sok.",
    "Bağdat Cad.",
    "1721. Sok.",
];
const DIRECTIONS: &[&str] = &[
    "Eczanenin üstü",
    "Sarı bina, siyah kapı",
    "Parkın karşısı",
    "Site girişinde güvenliğe söyleyin",
    "",
];
const COURIERS: &[&str] = &["Hakan T.", "Gökhan Ş.", "Müge A.", "Süleyman Ç.", "İsmail Y."];

impl Person {
    pub(crate) fn of(random: &mut Random) -> Self {
        Self {
            first_name: random.word(FIRST),
            last_name: random.word(LAST),
            phone_extension: random.letters(b"0123456789", 8),
        }
    }

    pub(crate) fn full_name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }
}

pub(crate) fn courier_name(random: &mut Random) -> &'static str {
    random.word(COURIERS)
}

impl Address {
    pub(crate) fn of(random: &mut Random) -> Self {
        let fallback = ("İstanbul", 34, "Kadıköy", "Caferağa Mah.", 40_987_000, 29_026_000);
        let (city, city_code, district, neighbourhood, latitude, longitude) =
            random.pick(PLACES).copied().unwrap_or(fallback);
        Self {
            city,
            city_code,
            district,
            neighbourhood,
            street: random.word(STREETS),
            building: random.between(1, 148),
            floor: random.between(0, 12),
            door: random.between(1, 48),
            directions: random.word(DIRECTIONS),
            latitude: latitude + random.between(-9_000, 9_000),
            longitude: longitude + random.between(-9_000, 9_000),
        }
    }

    pub(crate) fn line(&self) -> String {
        format!("{} {} No: {}", self.neighbourhood, self.street, self.building)
    }

    pub(crate) fn degrees(millionths: i64) -> String {
        format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
    }

    pub(crate) fn degrees_number(millionths: i64) -> serde_json::Value {
        Self::degrees(millionths)
            .parse::<f64>()
            .map_or(serde_json::Value::Null, serde_json::Value::from)
    }
}
