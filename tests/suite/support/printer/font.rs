//! A small font of dots for printed text: letters of five by seven dots, with the marks of Turkish letters.

/// Dots of a character cell.
pub const CELL: (usize, usize) = (6, 12);
/// The row of a cell at which letters begin; marks stand above.
const TOP: usize = 3;

/// The characters from space to tilde: seven rows of eight bits each, the top row first; the leftmost dot of a row is 0x10.
const LETTERS: [u64; 95] = [
    0x00000000000000,
    0x04040404040004,
    0x0a0a0a00000000,
    0x0a0a1f0a1f0a0a,
    0x040f140e051e04,
    0x18190204081303,
    0x0c12140815120d,
    0x04040800000000,
    0x02040808080402,
    0x08040202020408,
    0x0004150e150400,
    0x0004041f040400,
    0x000000000c0408,
    0x0000001f000000,
    0x00000000000c0c,
    0x00010204081000,
    0x0e11131519110e,
    0x040c040404040e,
    0x0e11010204081f,
    0x1f02040201110e,
    0x02060a121f0202,
    0x1f101e0101110e,
    0x0608101e11110e,
    0x1f010204080808,
    0x0e11110e11110e,
    0x0e11110f01020c,
    0x000c0c000c0c00,
    0x000c0c000c0408,
    0x02040810080402,
    0x00001f001f0000,
    0x08040201020408,
    0x0e110102040004,
    0x0e11171517100e,
    0x0e11111f111111,
    0x1e11111e11111e,
    0x0e11101010110e,
    0x1c12111111121c,
    0x1f10101e10101f,
    0x1f10101e101010,
    0x0e11101711110f,
    0x1111111f111111,
    0x0e04040404040e,
    0x0702020202120c,
    0x11121418141211,
    0x1010101010101f,
    0x111b1515111111,
    0x11111915131111,
    0x0e11111111110e,
    0x1e11111e101010,
    0x0e11111115120d,
    0x1e11111e141211,
    0x0f10100e01011e,
    0x1f040404040404,
    0x1111111111110e,
    0x11111111110a04,
    0x1111111515150a,
    0x11110a040a1111,
    0x1111110a040404,
    0x1f01020408101f,
    0x0e08080808080e,
    0x00100804020100,
    0x0e02020202020e,
    0x040a1100000000,
    0x0000000000001f,
    0x08040200000000,
    0x00000e010f110f,
    0x1010161911111e,
    0x00000e1010110e,
    0x01010d1311110f,
    0x00000e111f100e,
    0x0609081c080808,
    0x000f11110f010e,
    0x10101619111111,
    0x04000c0404040e,
    0x0200060202120c,
    0x10101214181412,
    0x0c04040404040e,
    0x00001a15151111,
    0x00001619111111,
    0x00000e1111110e,
    0x00001e111e1010,
    0x00000d130f0101,
    0x00001619101010,
    0x00000e100e011e,
    0x08081c08080906,
    0x0000111111130d,
    0x00001111110a04,
    0x0000111115150a,
    0x0000110a040a11,
    0x000011110f010e,
    0x00001f0204081f,
    0x02040408040402,
    0x04040404040404,
    0x08040402040408,
    0x00000815020000,
];

/// Rows of dots above a capital or small letter, or below it.
struct Mark {
    rows: [(usize, u8); 2],
}

const BREVE: Mark = Mark {
    rows: [(0, 0x11), (1, 0x0e)],
};
const DOT: Mark = Mark {
    rows: [(0, 0x04), (1, 0x04)],
};
const DOTS: Mark = Mark {
    rows: [(0, 0x0a), (1, 0x0a)],
};
const ROOF: Mark = Mark {
    rows: [(0, 0x04), (1, 0x0a)],
};
const ACUTE: Mark = Mark {
    rows: [(0, 0x02), (1, 0x04)],
};
const CEDILLA: Mark = Mark {
    rows: [(10, 0x04), (11, 0x0c)],
};

/// The letter and the mark of which a character is composed.
fn parts(c: char) -> Option<(char, Option<Mark>)> {
    Some(match c {
        ' '..='~' => (c, None),
        'ğ' => ('g', Some(BREVE)),
        'Ğ' => ('G', Some(BREVE)),
        'İ' => ('I', Some(DOT)),
        'ş' => ('s', Some(CEDILLA)),
        'Ş' => ('S', Some(CEDILLA)),
        'ç' => ('c', Some(CEDILLA)),
        'Ç' => ('C', Some(CEDILLA)),
        'ö' => ('o', Some(DOTS)),
        'Ö' => ('O', Some(DOTS)),
        'ü' => ('u', Some(DOTS)),
        'Ü' => ('U', Some(DOTS)),
        'â' => ('a', Some(ROOF)),
        'î' => ('i', Some(ROOF)),
        'é' => ('e', Some(ACUTE)),
        '·' => ('-', None),
        _ => return None,
    })
}

/// Is the dot of a character black? A character without a picture is a box.
pub fn is_black(c: char, x: usize, y: usize) -> bool {
    if c == 'ı' {
        // An i without its dot.
        return y > TOP + 1 && is_black('i', x, y);
    }
    let Some((letter, mark)) = parts(c) else {
        return x < 5 && (TOP..TOP + 7).contains(&y) && (x == 0 || x == 4 || y == TOP || y == TOP + 6);
    };
    let is_small = letter.is_ascii_lowercase();
    if let Some(mark) = mark {
        // Marks stand lower above small letters.
        let shift = |row: usize| if is_small && row < TOP { row + 2 } else { row };
        if mark
            .rows
            .iter()
            .any(|(row, dots)| shift(*row) == y && dot(*dots, x))
        {
            return true;
        }
    }
    let Some(row) = y.checked_sub(TOP).filter(|row| *row < 7) else {
        return false;
    };
    let rows = LETTERS[letter as usize - 32].to_be_bytes();
    dot(rows[row + 1], x)
}

fn dot(row: u8, x: usize) -> bool {
    x < 5 && row & (0x10 >> x) != 0
}
