  <!-- The lines of a chart in units of its width and height, for pages and pictures. -->
  <xsl:template name="drawing">
    <g class="grid" xmlns="http://www.w3.org/2000/svg">
      <xsl:for-each select="Mark"><path d="M0 {@y}H{../@width}"/></xsl:for-each>
      <xsl:for-each select="Time"><path d="M{@x} 0V{../@height}"/></xsl:for-each>
    </g>
    <xsl:for-each select="Limit[@y]"><path class="limit" d="M0 {@y}H{../@width}" xmlns="http://www.w3.org/2000/svg"/></xsl:for-each>
    <xsl:for-each select="Series[@band]"><path class="b{@number}{substring(' pale', 1, 5 * (count(../Series) &gt; 3))}" d="{@band}" xmlns="http://www.w3.org/2000/svg"/></xsl:for-each>
    <xsl:for-each select="Series[@path]"><path class="s{@number}" d="{@path}" xmlns="http://www.w3.org/2000/svg"/></xsl:for-each>
  </xsl:template>

  <xsl:template name="chart-title">
    <xsl:value-of select="@title"/>
    <xsl:if test="@counter and @counter != @title"><xsl:text>: </xsl:text><xsl:value-of select="@counter"/></xsl:if>
  </xsl:template>

  <!-- The zone of 2026-01-02T03:04:05.000+01:00: UTC+01:00. Empty for any other text. -->
  <xsl:template name="zone">
    <xsl:param name="text"/>
    <xsl:variable name="behind" select="substring($text, 24)"/>
    <xsl:choose>
      <xsl:when test="substring($text, 11, 1) != 'T'"/>
      <xsl:when test="substring($text, string-length($text)) = 'Z'">UTC</xsl:when>
      <xsl:when test="string-length($behind) = 6 and translate(substring($behind, 1, 1), '-', '+') = '+'">
        <xsl:value-of select="concat('UTC', $behind)"/>
      </xsl:when>
    </xsl:choose>
  </xsl:template>

  <!-- The same time for readers: 2026-01-02 03:04:05 UTC+01:00. -->
  <xsl:template name="time">
    <xsl:param name="text"/>
    <xsl:variable name="zone"><xsl:call-template name="zone"><xsl:with-param name="text" select="$text"/></xsl:call-template></xsl:variable>
    <xsl:choose>
      <xsl:when test="$zone = ''"><xsl:value-of select="$text"/></xsl:when>
      <xsl:when test="substring($text, 20, 4) = '.000'">
        <xsl:value-of select="concat(substring($text, 1, 10), ' ', substring($text, 12, 8), ' ', $zone)"/>
      </xsl:when>
      <xsl:when test="substring($text, string-length($text)) = 'Z'">
        <xsl:value-of select="concat(substring($text, 1, 10), ' ', translate(substring($text, 12), 'Z', ' '), $zone)"/>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="concat(substring($text, 1, 10), ' ', substring($text, 12, 12), ' ', $zone)"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="seconds">
    <xsl:param name="text"/>
    <xsl:variable name="s" select="number($text)"/>
    <xsl:choose>
      <xsl:when test="not($s &gt;= 120) or $s &gt; 100000000"><xsl:value-of select="$text"/> s</xsl:when>
      <xsl:when test="$s &lt; 7200"><xsl:value-of select="concat(floor($s div 60), ' min ', floor($s mod 60), ' s')"/></xsl:when>
      <xsl:otherwise><xsl:value-of select="concat(floor($s div 3600), ' h ', floor($s mod 3600 div 60), ' min')"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="chart-words">
    <xsl:text>Lines over time</xsl:text>
    <xsl:if test="@start"> from <xsl:call-template name="time"><xsl:with-param name="text" select="@start"/></xsl:call-template></xsl:if>
    <xsl:text>, </xsl:text>
    <xsl:call-template name="seconds"><xsl:with-param name="text" select="@duration"/></xsl:call-template>
    <xsl:text>; scale from </xsl:text><xsl:value-of select="Mark[last()]"/>
    <xsl:text> to </xsl:text><xsl:value-of select="Mark[1]"/>
    <xsl:text>. </xsl:text>
    <xsl:for-each select="Series[@path]">
      <xsl:value-of select="concat(@name, ': ', @least, ' to ', @greatest, '. ')"/>
    </xsl:for-each>
    <xsl:for-each select="Limit[@y]">
      <xsl:value-of select="concat('Limit ', @value)"/>
      <xsl:if test="@warning"><xsl:value-of select="concat(' of warning ', @warning)"/></xsl:if>
      <xsl:text>. </xsl:text>
    </xsl:for-each>
  </xsl:template>
