<?xml version="1.0" encoding="UTF-8"?>
<!-- SPDX-License-Identifier: MIT -->
<!-- The charts of a report as one picture. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns="http://www.w3.org/2000/svg">
  <xsl:output method="xml" encoding="UTF-8"/>
  <xsl:strip-space elements="*"/>
@CHART@
  <xsl:template match="/Report">
    <xsl:variable name="charts" select="Section/Chart"/>
    <!-- A title that differs from the section's was given by the user. -->
    <xsl:variable name="titled" select="@title != Section/@title"/>
    <xsl:variable name="head" select="40 * $titled"/>
    <xsl:variable name="height" select="330 * count($charts) + 20 * count($charts/Series | $charts/Limit[@y]) + 20 + $head"/>
    <svg role="img" aria-labelledby="t d" viewBox="0 0 1120 {$height}" width="1120" height="{$height}">
      <title id="t">
        <xsl:if test="$titled"><xsl:value-of select="concat(@title, ', ')"/></xsl:if>
        <xsl:value-of select="Header/Data[@name = 'computer']"/>
        <xsl:text> </xsl:text>
        <xsl:call-template name="time">
          <xsl:with-param name="text" select="string(Header/Data[@name = 'start'])"/>
        </xsl:call-template>
      </title>
      <desc id="d">
        <xsl:for-each select="$charts">
          <xsl:call-template name="chart-title"/>
          <xsl:text>. </xsl:text>
          <xsl:call-template name="chart-words"/>
        </xsl:for-each>
      </desc>
      <style>@LINES@</style>
      <rect class="paper" width="1120" height="{$height}"/>
      <xsl:if test="$titled"><text class="title" x="80" y="36"><xsl:value-of select="@title"/></text></xsl:if>
      <xsl:for-each select="$charts">
        <xsl:variable name="top" select="330 * (position() - 1) + 20 * count(preceding::Series | preceding::Limit[@y]) + 20 + $head"/>
        <g transform="translate(80 {$top})">
          <text class="title" x="0" y="16"><xsl:call-template name="chart-title"/></text>
          <svg x="-5" y="30" width="1010" height="250" viewBox="-5 -5 1010 250">
            <xsl:call-template name="drawing"/>
          </svg>
          <xsl:for-each select="Mark"><text class="mark" x="-8" y="{@y + 39}"><xsl:value-of select="."/></text></xsl:for-each>
          <xsl:for-each select="Time"><text class="time" x="{@x}" y="295"><xsl:value-of select="."/></text></xsl:for-each>
          <xsl:if test="@empty"><text class="none" x="500" y="160">no values</text></xsl:if>
          <xsl:for-each select="Series">
            <path class="s{@number}" d="M0 {295 + 20 * position()}h40"/>
            <text x="50" y="{300 + 20 * position()}">
              <xsl:value-of select="@name"/>
              <xsl:if test="@path"><xsl:value-of select="concat(' (', @least, ' to ', @greatest, ')')"/></xsl:if>
            </text>
          </xsl:for-each>
          <xsl:variable name="lines" select="count(Series)"/>
          <xsl:for-each select="Limit[@y]">
            <path class="limit" d="M0 {295 + 20 * ($lines + position())}h40"/>
            <text x="50" y="{300 + 20 * ($lines + position())}">Limit <xsl:value-of select="@value"/></text>
          </xsl:for-each>
        </g>
      </xsl:for-each>
    </svg>
  </xsl:template>
</xsl:stylesheet>
