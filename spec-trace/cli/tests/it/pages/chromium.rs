//! A headless Chromium, driven by its debugging protocol: as much of it as a reader's eyes and fingers need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Names under which systems install it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// A browser with one page; it ends with this value.
pub struct Chromium {
    process: Child,
    socket: BufReader<TcpStream>,
    session: String,
    next: u64,
    /// What went wrong in the page: exceptions, errors on its console, what its policy forbade.
    pub complaints: Vec<String>,
    /// Every address that was asked for.
    pub requests: Vec<String>,
    _profile: TempDir,
}

impl Chromium {
    /// Starts the browser that `CHROMIUM` names, or one of the usual names. Where there is none, a notice says so and there
    /// is nothing to test with.
    ///
    /// # Panics
    ///
    /// If there is a browser and it does not start.
    pub fn start() -> Option<Self> {
        let named = env::var("CHROMIUM").ok();
        let names = named
            .as_deref()
            .map_or_else(|| NAMES.to_vec(), |name| vec![name]);
        let Some(name) = names.into_iter().find(|name| is_there(name)) else {
            assert!(named.is_none(), "CHROMIUM names no program: {named:?}");
            eprintln!(
                "SKIPPED: no Chromium here ({}, or CHROMIUM=path)",
                NAMES.join(", ")
            );
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let mut process = Command::new(name)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--remote-debugging-port=0",
            ])
            .args([
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--disable-background-networking",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("Chromium starts");
        let address = listening_at(&mut process);
        let socket = web_socket(&address);
        let mut chromium = Self {
            process,
            socket,
            session: String::new(),
            next: 0,
            complaints: Vec::new(),
            requests: Vec::new(),
            _profile: profile,
        };
        chromium.attach();
        Some(chromium)
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached = self.call(
            "Target.attachToTarget",
            &json!({ "targetId": target["targetId"], "flatten": true }),
        );
        attached["sessionId"]
            .as_str()
            .expect("a session")
            .clone_into(&mut self.session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
    }

    /// One command, and its result. What happens meanwhile is taken note of.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let frame = frame(&message.to_string());
        let stream = self.socket.get_mut();
        stream.write_all(&frame).expect("Chromium listens");
        loop {
            let mut answer = self.receive();
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].take();
            }
        }
    }

    fn receive(&mut self) -> Value {
        let text = message(&mut self.socket);
        let message: Value = serde_json::from_slice(&text).expect("JSON");
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => {
                self.complaints.push(parameters.to_string());
            }
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                self.requests.push(url.to_owned());
            }
            Some(_) | None => {}
        }
        message
    }

    /// Opens a file and waits until it is loaded; yields how long that took, in milliseconds, with all of its layout.
    pub fn open(&mut self, file: &Path, fragment: &str) -> f64 {
        let url = format!("file://{}{fragment}", file.display());
        // The same address with another fragment would not load again.
        self.call("Page.navigate", &json!({ "url": "about:blank" }));
        self.call("Page.navigate", &json!({ "url": url }));
        self.evaluate(
            "new Promise((done) => {
               const painted = () => requestAnimationFrame(() => setTimeout(() => done(performance.now())));
               if (document.readyState === 'complete' && location.href !== 'about:blank') painted();
               else addEventListener('load', painted);
             })",
        )
        .as_f64()
        .expect("a duration")
    }

    /// The value of an expression in the page; a promise is waited for.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let mut result = self.call(
            "Runtime.evaluate",
            &json!({ "expression": expression, "awaitPromise": true, "returnByValue": true }),
        );
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].take()
    }

    /// The text of the element that the selector finds.
    pub fn text(&mut self, selector: &str) -> String {
        let selector = json!(selector);
        let text = self.evaluate(&format!("document.querySelector({selector}).innerText"));
        text.as_str().expect("an element with text").to_owned()
    }

    /// Clicks into the middle of an element, as a mouse does.
    pub fn click(&mut self, selector: &str) {
        let selector = json!(selector);
        let place = self.evaluate(&format!(
            "(async () => {{
               const element = document.querySelector({selector});
               element.scrollIntoView({{ block: 'center' }});
               // What comes into view may be laid out only then, and move what is around it.
               for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
               const box = element.getBoundingClientRect();
               return [box.x + box.width / 2, box.y + box.height / 2];
             }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                &json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 }),
            );
        }
    }

    /// Presses a key that has a name, such as `ArrowRight`.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            other => panic!("{other} has no code here"),
        };
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            self.call(
                "Input.dispatchKeyEvent",
                &json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text }),
            );
        }
    }

    /// Types into what has the focus.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// The size of the window, and whether the reader likes it dark.
    pub fn look(&mut self, width: u32, height: u32, dark: bool) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({ "features": features }),
        );
    }

    /// Keeps a picture of the page in the folder that `PICTURES` names, if it names one.
    pub fn keep(&mut self, name: &str) {
        let Ok(folder) = env::var("PICTURES") else {
            return;
        };
        // Colours that change take a moment.
        self.evaluate("new Promise((done) => setTimeout(done, 200))");
        let picture = self.call("Page.captureScreenshot", &json!({}));
        let picture = picture["data"].as_str().expect("a picture");
        let picture = STANDARD.decode(picture).expect("base64");
        fs::write(Path::new(&folder).join(format!("{name}.png")), picture).expect("a folder");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A web socket (RFC 6455) at an address such as `ws://127.0.0.1:9222/devtools`, opened.
fn web_socket(address: &str) -> BufReader<TcpStream> {
    let rest = address.strip_prefix("ws://").expect("a web socket");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut socket = BufReader::new(TcpStream::connect(host).expect("Chromium listens"));
    let asked = format!(
        "GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    let stream = socket.get_mut();
    stream
        .write_all(asked.as_bytes())
        .expect("Chromium listens");
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = socket.read_line(&mut head).expect("Chromium answers");
        assert_ne!(read, 0, "{head}");
    }
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    socket
}

/// One text of a client, masked as it has to be: by zeros, which change nothing.
fn frame(text: &str) -> Vec<u8> {
    let mut frame = vec![0x81];
    match u16::try_from(text.len()) {
        Ok(length @ 0..=125) => frame.push(0x80 | length.to_be_bytes()[1]),
        Ok(length) => {
            frame.push(0x80 | 0x7e);
            frame.extend(length.to_be_bytes());
        }
        Err(_) => {
            frame.push(0x80 | 0x7f);
            frame.extend((text.len() as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(text.as_bytes());
    frame
}

/// The next text of the server, put together of its frames.
fn message(socket: &mut impl Read) -> Vec<u8> {
    const CONTROL: u8 = 0x08;
    let mut text = Vec::new();
    loop {
        let [first, second] = bytes(socket);
        let length = match second {
            126 => u64::from(u16::from_be_bytes(bytes(socket))),
            127 => u64::from_be_bytes(bytes(socket)),
            length => u64::from(length),
        };
        let length = usize::try_from(length).expect("a length");
        let mut part = vec![0; length];
        socket.read_exact(&mut part).expect("Chromium speaks");
        if first & CONTROL != 0 {
            continue;
        }
        text.extend(part);
        if first & 0x80 != 0 {
            return text;
        }
    }
}

fn bytes<const N: usize>(socket: &mut impl Read) -> [u8; N] {
    let mut bytes = [0; N];
    socket.read_exact(&mut bytes).expect("Chromium speaks");
    bytes
}

fn is_there(name: &str) -> bool {
    let started = Command::new(name)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    started.is_ok_and(|status| status.success())
}

/// The address that the browser writes when it listens.
fn listening_at(process: &mut Child) -> String {
    let stderr = process.stderr.take().expect("a pipe");
    let mut lines = BufReader::new(stderr).lines();
    let address = lines.by_ref().find_map(|line| {
        let line = line.expect("text");
        line.strip_prefix("DevTools listening on ")
            .map(str::to_owned)
    });
    // Were the pipe closed or full, the browser would end or wait.
    std::thread::spawn(move || lines.for_each(drop));
    address.expect("Chromium says where it listens")
}
