//! The name of a browser, from what it says about itself.

/// Parts of user agents, the more specific first, and the names that people know.
const BROWSERS: &[(&str, &str)] = &[
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("YaBrowser/", "Yandex"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
const SYSTEMS: &[(&str, &str)] = &[
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
];

/// `Chrome 131, Windows`; the text itself if nothing in it is known.
pub fn browser_name(agent: &str) -> String {
    let browser = BROWSERS.iter().find(|(part, _)| agent.contains(part));
    let system = SYSTEMS.iter().find(|(part, _)| agent.contains(part));
    let Some((part, name)) = browser else {
        return system.map_or_else(|| agent.to_owned(), |(_, name)| (*name).to_owned());
    };
    // Safari writes its version elsewhere.
    let marker = if *name == "Safari" { "Version/" } else { part };
    let version: String = agent
        .split_once(marker)
        .map_or("", |(_, rest)| rest)
        .chars()
        .take_while(char::is_ascii_digit)
        .take(4)
        .collect();
    let browser = format!("{name} {version}");
    match system {
        Some((_, system)) => format!("{}, {system}", browser.trim_end()),
        None => browser.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::browser_name;

    #[test]
    fn browsers_are_named_as_people_know_them() {
        for (agent, name) in [
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
                "Chrome 131, Windows",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0",
                "Edge 131, Windows",
            ),
            (
                "Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
                "Safari 17, iPad",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
                "Firefox 128, Linux",
            ),
            ("curl/8.5", "curl/8.5"),
            ("", ""),
        ] {
            assert_eq!(browser_name(agent), name);
        }
    }
}
